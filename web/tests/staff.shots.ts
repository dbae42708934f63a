import { settle } from './accessibility'
import { expect, test } from './fixtures'
import { deliver, enter, order, payAt, sizes, tablet } from './staff'

test.use({ file: 'staff' })

for (const [size, viewport] of Object.entries({ ...sizes, tablet })) {
  test(`console on a ${size}`, async ({ page, server }) => {
    test.setTimeout(300_000)
    await page.setViewportSize(viewport)
    await order(server, 'A1', 'SANDBOX')
    const o = await order(server, 'A2', 'COUNTER')
    await payAt(page, server, 'vnpay', 'A3', { corrupt: 'amount' })
    const back = await payAt(page, server, 'vnpay', 'A4', { refundCode: '99' })
    await server.staff('POST', `/api/orders/${back.id}/refunds`, { reason: 'It was cold, and the guest has left.' })
    const shoot = async (name: string, path: string) => {
      for (const language of ['en', 'vi', 'zh-Hant']) {
        await page.evaluate((l) => {
          localStorage.setItem('comanda.staff.language', l)
        }, language)
        await page.goto(`${server.url}/console/${path}`)
        await expect(page.locator('html')).toHaveAttribute('lang', language)
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          await settle(page)
          await page.screenshot({ path: `screenshots/console-${size}/${name}-${language}-${colorScheme}.png` })
        }
      }
      await page.evaluate(() => {
        localStorage.setItem('comanda.staff.language', 'en')
      })
    }
    await page.goto(`${server.url}/console/login`)
    await shoot('1-login', 'login')
    await page.goto(`${server.url}/console/login`)
    await enter(page, server, 'owner')
    await deliver(server, { name: 'Nguyễn Thị Lan', phone: '0901234567', address: '12 Hàng Bài, Hoàn Kiếm, Hà Nội', note: 'Mã cổng 4711#\nTầng 3, gọi trước 5 phút' })
    const brought = await deliver(server, { name: '王小明', phone: '+886912345678', address: '台北市大安區信義路四段 1 號 5 樓', note: '請交給大樓管理員' })
    await shoot('2-board', 'board')
    await shoot('8-orders', 'orders')
    await shoot('8-orders-found', 'orders?search=lan')
    await shoot('9-delivery', `orders/${brought.id}`)
    await shoot('10-sheet', 'tables/sheet')
    await shoot('3-counter', 'counter')
    await shoot('4-tables', 'tables')
    await page.evaluate(() => {
      localStorage.setItem('comanda.staff.tables.view', 'plan')
    })
    await shoot('4-tables-plan', 'tables')
    await shoot('4-tables-plan-edit', 'tables/plan')
    await shoot('5-order', `orders/${o.id}`)
    await shoot('6-payments', 'payments')
    await shoot('7-refunded', `orders/${back.id}`)
  })
}
