import { checkAccessibility } from './accessibility'
import { expect, test } from './fixtures'
import { choose, codeFor, join, logIn, password, receiver } from './member'

// These tests lose requests on purpose, which is possible only without a service worker.
test.use({ serviceWorkers: 'block' })

test('a member registers and pays an order', async ({ page, server }) => {
  const email = 'lan@house.example'
  await page.goto(server.url)
  await page.getByRole('link', { name: 'Order from home' }).click()
  await expect(page.getByRole('link', { name: 'Beef pho', exact: true })).toBeVisible()
  await expect(page.getByRole('group')).toHaveCount(0) // before the login, which the sheet requires, a card adds nothing
  await page.getByRole('link', { name: 'Beef pho', exact: true }).click()
  await page.getByRole('link', { name: 'Log in to order' }).click()
  await page.getByRole('link', { name: 'Create account' }).click()
  await page.getByLabel('E-mail', { exact: true }).fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await expect(page.getByLabel('E-mail me news and offers.')).not.toBeChecked()
  await page.getByRole('button', { name: 'Create account' }).click()

  await expect(page.getByText(`We’ve sent a code to ${email}`)).toBeVisible()
  await page.getByLabel('Code from the e-mail').fill('000000')
  await page.getByRole('button', { name: 'Verify' }).click()
  await expect(page.getByRole('alert')).toContainText('The code is wrong')
  await page.getByLabel('Code from the e-mail').fill(await codeFor(server, email))
  await page.getByRole('button', { name: 'Verify' }).click()

  // The code has logged the member in and returned to the dish.
  await expect(page.getByRole('dialog', { name: 'Beef pho' })).toBeVisible()
  await page.getByRole('button', { name: /One more/ }).click()
  await page.getByRole('button', { name: /^Add · ₫130,000/ }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.getByRole('link', { name: /View cart · 2 items/ }).click()
  await page.getByRole('button', { name: 'Go to checkout' }).click()
  await receiver(page)
  await page.getByLabel('Note for the courier (optional)').fill('Gate code 4711\nThird floor, ring twice')
  await page.getByRole('radio', { name: /VNPay/ }).check()
  await page.getByRole('button', { name: 'Order and pay · ₫130,000' }).click()

  // VNPay's page leads back to the order.
  await page.waitForURL(/\/sim\/vnpay/)
  await page.getByRole('button').first().click()
  await expect(page.getByRole('heading', { name: 'Payment received' })).toBeVisible()
  await expect(page.getByText('We’ll bring it to your address')).toBeVisible()
  await expect(page.getByText('12 Hàng Bài, Hoàn Kiếm, Hà Nội')).toBeVisible()
  await expect(page.getByText('Gate code 4711')).toBeVisible()
  expect(await page.getByText('Gate code 4711').innerText()).toContain('4711\nThird floor, ring twice')

  // The page shows the kitchen's steps immediately.
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  await server.staff('POST', `/api/orders/${id}/start`)
  await expect(page.getByRole('listitem').filter({ hasText: 'Being prepared' })).toBeVisible({ timeout: 1000 })
  await server.staff('POST', `/api/orders/${id}/ready`)
  await expect(page.getByRole('listitem').filter({ hasText: 'Ready' })).toBeVisible({ timeout: 1000 })

  await page.getByRole('link', { name: 'My orders' }).last().click()
  await expect(page.getByRole('article')).toHaveCount(1)

  // Orders again, this time for pickup, with the receiver of the last order.
  await page.getByRole('button', { name: /Order again/ }).click()
  await expect(page.getByRole('group', { name: 'Quantity: Beef pho' })).toContainText('2')
  await page.getByRole('button', { name: 'Go to checkout' }).click()
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Nguyễn Lan')
  await expect(page.getByLabel('Note for the courier (optional)')).toHaveValue('') // the note belonged to the last order
  await expect(page.getByRole('group', { name: 'Delivery details' })).toBeVisible()
  await page.getByRole('radio', { name: /Pickup/ }).check()
  await expect(page.getByRole('group', { name: 'Pickup details' })).toBeVisible()
  await expect(page.getByLabel('Address', { exact: true })).toHaveCount(0)
  await expect(page.getByLabel(/Note for the courier/)).toHaveCount(0)
  await page.getByRole('radio', { name: /Pay at the counter/ }).check()
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByRole('heading', { name: 'Please pay at the counter' })).toBeVisible()
  await page.getByRole('button', { name: 'Change payment method' }).click()
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await page.getByRole('button', { name: 'Pay now' }).click()
  await page.getByRole('button', { name: 'Simulate a failure' }).click()
  await expect(page.getByRole('heading', { name: 'Payment didn’t go through' })).toBeVisible()
  await page.getByRole('button', { name: 'Cancel this order' }).click()
  await page.getByRole('button', { name: 'Yes, cancel it' }).click()
  await expect(page.getByRole('heading', { name: 'Order cancelled' })).toBeVisible()
})

test('a cart belongs to its member, and a login to its browser', async ({ page, context, server }) => {
  await join(server, 'mai@house.example', { username: 'mai' })
  await logIn(page, server, 'mai')
  await choose(page, 'Bun cha')
  await page.reload() // the access token is lost, but the login stays
  await expect(page.getByRole('link', { name: 'Cart, 1 item' })).toBeVisible()
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('eyJ')

  // Two tabs share one login: a logout in one logs out the other.
  const second = await context.newPage()
  await second.goto(`${server.url}/shop/account`)
  await expect(second.getByText('Logged in as mai@house.example')).toBeVisible()
  await second.getByRole('button', { name: 'Log out', exact: true }).click()
  await expect(second.getByRole('link', { name: 'Log in' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Log in' })).toBeVisible()
  await page.goto(`${server.url}/shop/orders`)
  await expect(page.getByRole('heading', { name: 'Log in' })).toBeVisible()

  await logIn(page, server, 'mai@house.example', '/shop/cart')
  await expect(page.getByRole('group', { name: 'Quantity: Bun cha' })).toContainText('1')
  await expect(second.getByRole('link', { name: 'Cart, 1 item' })).toBeVisible()
})

test('all tabs can be reloaded at once', async ({ page, context, server }) => {
  await join(server, 'tam@house.example')
  await logIn(page, server, 'tam@house.example')
  const tabs = [page, await context.newPage(), await context.newPage(), await context.newPage()]
  for (let round = 0; round < 3; round++) {
    await Promise.all(tabs.map((tab) => tab.goto(`${server.url}/shop/account`)))
    for (const tab of tabs) await expect(tab.getByText('Logged in as tam@house.example')).toBeVisible()
  }
  // The server counted neither a second login nor a reused token.
  await expect(page.getByText('This device')).toHaveCount(1)
  await expect(page.getByRole('button', { name: /Log out device/ })).toHaveCount(0)
})

test('a refresh whose answer is lost is repeated', async ({ page, server }) => {
  await join(server, 'hoa@house.example')
  await logIn(page, server, 'hoa@house.example')
  let lost = 0
  await page.route('**/auth/refresh', async (route) => {
    if (lost++ > 0) return route.continue()
    await route.fetch() // the server spends the token, but the browser gets no answer
    return route.abort()
  })
  await page.goto(`${server.url}/shop/account`)
  await expect(page.getByText('Logged in as hoa@house.example')).toBeVisible()
  expect(lost).toBe(2)
})

test('the checkout reports sold-out dishes and asks about higher prices', async ({ page, server }) => {
  await join(server, 'binh@house.example')
  await logIn(page, server, 'binh@house.example')
  await server.quota('12', 3)
  await page.getByRole('link', { name: 'Chicken pho', exact: true }).click()
  const more = page.getByRole('button', { name: /One more/ })
  await expect(page.getByText('Only 3 left').last()).toBeVisible()
  await more.click()
  await more.click()
  await expect(more).toBeDisabled()
  await page.getByRole('dialog').getByRole('button', { name: /^Add/ }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0) // closing the dialog goes back in the history, which could disturb the next navigation
  await page.goto(`${server.url}/shop/checkout`)
  await receiver(page)
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await server.quota('12', 1)
  await page.getByRole('button', { name: /Order and pay · ₫180,000/ }).click()
  await expect(page.getByRole('alert').first()).toContainText('Something just sold out')
  await page.getByRole('button', { name: 'Change to 1' }).click()
  await expect(page.getByRole('button', { name: 'Order and pay · ₫60,000' })).toBeEnabled()
  await server.quota('12', 0)
  await page.getByRole('button', { name: 'Order and pay · ₫60,000' }).click()
  await page.getByRole('button', { name: 'Remove Chicken pho' }).click()
  await expect(page.getByText('Your cart is empty.')).toBeVisible()

  // The price changes.
  await page.goto(`${server.url}/shop`)
  await choose(page, 'Rolled pho')
  await page.goto(`${server.url}/shop/checkout`)
  await expect(page.getByRole('button', { name: /Order and pay · ₫/ })).toBeVisible()
  await receiver(page)
  await page.getByRole('radio', { name: /Test payment/ }).check()
  await server.price('1', '9', 99000)
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'The new total is ₫99,000' })).toBeVisible()
  await page.getByRole('button', { name: 'Agree and order · ₫99,000' }).click()
  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeVisible()
})

test('an order whose answer was lost is placed once', async ({ page, server }) => {
  await join(server, 'duc@house.example')
  await logIn(page, server, 'duc@house.example')
  await choose(page, 'Bun cha')
  await page.goto(`${server.url}/shop/checkout`)
  await receiver(page)
  await page.getByRole('radio', { name: /Test payment/ }).check()
  let lost = 0
  await page.route('**/cart/checkout', async (route) => {
    if (lost++ > 0) return route.continue()
    await route.fetch()
    return route.abort()
  })
  await page.getByRole('button', { name: /Order and pay/ }).click()
  await expect(page.getByRole('heading', { name: 'Complete your payment' })).toBeVisible()
  expect(lost).toBe(2)
  await page.getByRole('link', { name: 'My orders' }).last().click()
  await expect(page.getByRole('article')).toHaveCount(1)
})

test('one order comes from one restaurant', async ({ page, server }) => {
  await join(server, 'ling@house.example')
  await logIn(page, server, 'ling@house.example')
  await choose(page, 'Bun cha')
  await page.getByLabel('Restaurant').selectOption('2')
  await page.getByRole('link', { name: 'Danzai noodles', exact: true }).click()
  await expect(page.getByText('Your cart has dishes from')).toBeVisible()
  await page.getByRole('button', { name: /^Empty and add · NT\$/ }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.getByRole('link', { name: /View cart · 1 item/ }).click()
  await expect(page.getByRole('group', { name: 'Quantity: Danzai noodles' })).toBeVisible()
  await expect(page.getByRole('group', { name: 'Quantity: Bun cha' })).toHaveCount(0)
})

test('a new password logs out all other devices', async ({ page, browser, server }) => {
  const email = 'quen@house.example'
  await join(server, email)
  const elsewhere = await (await browser.newContext({ locale: 'en' })).newPage()
  await logIn(elsewhere, server, email)

  await logIn(page, server, email, '/shop/account')
  await page.getByLabel('Current password').fill('not this one')
  await page.getByLabel('New password').fill('another pot of pho')
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByRole('alert')).toContainText('Current password is incorrect')
  await page.getByLabel('Current password').fill(password)
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByText('logged out on all other devices')).toBeVisible()
  await page.getByLabel('First name').fill('Quên')
  await page.locator('form').filter({ has: page.getByLabel('First name') }).getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Saved.')).toBeVisible()

  // The other device is logged out at its next request, and shows the reason.
  await elsewhere.getByRole('link', { name: 'My orders' }).click()
  await expect(elsewhere.getByRole('heading', { name: 'Log in' })).toBeVisible()
  await expect(elsewhere.locator('main').getByText('been logged out. Please')).toBeVisible()
  await elsewhere.context().close()
})

test('a member changes the e-mail address with a code sent to the new one', async ({ page, server }) => {
  const email = 'huong@house.example'
  const next = 'huong.new@house.example'
  await join(server, email)
  await logIn(page, server, email, '/shop/account')
  await page.getByRole('button', { name: 'Change e-mail' }).click()
  const form = page.locator('form').filter({ has: page.getByLabel('New e-mail') })
  await form.getByLabel('New e-mail').fill(next)
  await form.getByLabel('Current password').fill('not this one')
  await form.getByRole('button', { name: 'Send code' }).click()
  await expect(page.getByRole('alert')).toContainText('Current password is incorrect')
  await form.getByLabel('Current password').fill(password)
  await form.getByRole('button', { name: 'Send code' }).click()
  await expect(page.getByText(`We’ve sent a code to ${next}.`)).toBeVisible()
  await checkAccessibility(page, 'a code for a new e-mail')
  await page.getByLabel('Code from the e-mail').fill(await codeFor(server, next))
  await page.getByRole('button', { name: 'Change e-mail' }).click()
  await expect(page.getByText('E-mail changed.')).toBeVisible()
  await expect(page.getByText(next).first()).toBeVisible()
})

test('a forgotten password is replaced by a code', async ({ page, server }) => {
  const email = 'member@demo.example' // codes are sent at most once per minute, and a new account has just received one
  await page.goto(`${server.url}/shop/login?to=/shop/account`)
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await page.getByLabel('E-mail', { exact: true }).fill(email)
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByLabel('Code from the e-mail').fill(await codeFor(server, email))
  await page.getByLabel('New password').fill('too short')
  await page.getByRole('button', { name: 'Set new password' }).click()
  await expect(page.getByLabel('New password')).toBeFocused() // the browser shows its own validation message
  await page.getByLabel('New password').fill('another pot of pho')
  await page.getByRole('button', { name: 'Set new password' }).click()
  await expect(page.getByRole('heading', { name: 'Your new password is set' })).toBeFocused()
  await page.getByRole('link', { name: 'Log in' }).last().click()
  await page.getByLabel('E-mail or username').fill('member')
  await page.getByLabel('Password', { exact: true }).fill('another pot of pho')
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByText(`Logged in as ${email}`)).toBeVisible()
})

test('the shop loads without layout shifts on a slow phone', async ({ page, server }) => {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Network.enable')
  const throughput = (1.6 * 1000 * 1000) / 8
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false, latency: 150, downloadThroughput: throughput, uploadThroughput: throughput,
  })
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await page.addInitScript(() => {
    let sum = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) sum += (entry as PerformanceEntry & { value: number }).value
      document.documentElement.dataset.shift = String(sum)
    }).observe({ type: 'layout-shift', buffered: true })
  })
  await page.goto(`${server.url}/shop`)
  await expect(page.getByRole('link', { name: 'Beef pho', exact: true })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Log in' })).toBeVisible()
  await page.waitForFunction(() => [...document.images].every((i) => i.complete || i.loading === 'lazy'))
  const shift = Number((await page.locator('html').getAttribute('data-shift')) ?? 0)
  test.info().annotations.push({ type: 'layout shift', description: String(shift) })
  expect(shift).toBeLessThan(0.1)
})
