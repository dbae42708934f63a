const { key, to } = document.documentElement.dataset
try { if (localStorage.getItem(key)) location.replace(to) } catch {}
