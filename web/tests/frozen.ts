import type { Page } from '@playwright/test'

/** Lets a page's requests reach their time limits at once while isFrozen is set, see setFrozen. */
export async function shortenLimits(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const limit = AbortSignal.timeout.bind(AbortSignal)
    AbortSignal.timeout = (ms) => limit((window as { isFrozen?: boolean }).isFrozen ? 50 : ms)
  })
}

/** Tells the page whether its server is frozen. */
export function setFrozen(page: Page, isFrozen: boolean): Promise<void> {
  return page.evaluate((f) => {
    Object.assign(window, { isFrozen: f })
  }, isFrozen)
}
