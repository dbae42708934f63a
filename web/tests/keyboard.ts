import type { Locator, Page } from '@playwright/test'

import { expect } from './fixtures'

const most = 100 // presses; more than any page has elements before its content

/** Presses Tab until an element has the focus, and checks that the user can see it. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible()
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab')
    if (!(await target.evaluate((e) => e === document.activeElement))) continue
    // Nothing covers its centre, except its own parts: a label, or the card that it belongs to.
    await expect.poll(() => target.evaluate((e) => {
      const b = e.getBoundingClientRect()
      const top = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2)
      return Boolean(top && (e.contains(top) || top.contains(e) || top.closest('article, .v-input')?.contains(e)))
    }), `the focus is covered: ${String(target)}`).toBe(true)
    return
  }
  throw new Error(`Tab does not lead to ${String(target)}`)
}

/** Checks that the open dialog has the focus, so that the next key acts in it. */
export async function expectFocusInside(dialog: Locator): Promise<void> {
  await expect(dialog).toBeVisible()
  await expect.poll(() => dialog.evaluate((e) => e.contains(document.activeElement)), 'the dialog has the focus').toBe(true)
}
