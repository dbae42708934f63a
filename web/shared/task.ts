/** Waits for the next task, so that the browser can draw and handle input before the caller continues. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve)
  })
}
