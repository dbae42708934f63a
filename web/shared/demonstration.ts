/** Whether the server has written into the page that it runs as a demonstration. */
export function isDemonstration(page: Document = document): boolean {
  try {
    return (JSON.parse(page.getElementById('boot')?.textContent ?? '') as { demo?: unknown } | null)?.demo === true
  } catch {
    return false
  }
}
