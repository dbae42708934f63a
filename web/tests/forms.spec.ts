import type { Page } from '@playwright/test'

import { expect, test } from './fixtures'
import { password } from './server'

test.describe('in a browser in Chinese', () => {
  test.use({ locale: 'zh-TW' })

  test('a profile asks for the family name first', async ({ page, server }) => {
    await page.goto(`${server.url}/console/profile`)
    await page.getByLabel('電子郵件或使用者名稱').fill('staff')
    await page.getByLabel('密碼', { exact: true }).fill(password)
    await page.getByRole('button', { name: '登入' }).click()
    expect(await order(page, '姓氏', '名字')).toBeLessThan(0)
  })
})

/** The distance between two fields from the top of the page: negative if the first is above the second. */
async function order(page: Page, first: string, second: string): Promise<number> {
  const top = async (label: string) => (await page.getByLabel(label, { exact: true }).boundingBox())?.y ?? NaN
  return (await top(first)) - (await top(second))
}
