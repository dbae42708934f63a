const { key, to, refresh } = document.documentElement.dataset
try { if (key && localStorage.getItem(key)) location.replace(to) } catch {}
const changed = async () => {
  const answer = await fetch(location.href, { cache: 'no-store' })
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  return answer.ok && !page.documentElement.dataset.refresh
}
if (refresh) setInterval(() => changed().then((is) => is && location.reload(), () => {}), refresh * 1000)
