/** Whether the page's boot data marks the server as a demonstration. */
export function isDemonstration(page: Document = document): boolean {
  try {
    return (JSON.parse(page.getElementById('boot')?.textContent ?? '') as { demo?: unknown } | null)?.demo === true
  } catch {
    return false
  }
}
