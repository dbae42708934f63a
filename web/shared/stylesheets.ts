// Vite adds the stylesheets of a part to the page once, and does not request them again after a failure. The part would be
// shown without its styles when the server is back.

const failed = new Set<HTMLLinkElement>()
let running: Promise<unknown> | undefined

addEventListener('error', ({ target }) => {
  if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') failed.add(target)
}, true) // the event does not bubble

/** Requests the stylesheets that could not be loaded again. It throws if one of them still cannot be loaded. */
export async function reloadStylesheets(): Promise<void> {
  running ??= Promise.all([...failed].map(reload)).finally(() => {
    running = undefined
  })
  await running
}

function reload(link: HTMLLinkElement): Promise<void> {
  failed.delete(link)
  const again = link.cloneNode() as HTMLLinkElement
  return new Promise((resolve, reject) => {
    again.addEventListener('load', () => {
      resolve()
    })
    again.addEventListener('error', () => {
      reject(new Error('A stylesheet could not be loaded.'))
    })
    link.replaceWith(again) // in its place, because the order of stylesheets counts
  })
}
