import { expect, test } from './fixtures'
import { setFrozen, shortenLimits } from './frozen'
import { menuFile, sixty } from './menufile'
import { sizes } from './staff'

// The code works once. The account exists although the page does not know it, and the second press logs in.
test('an owner whose account was created without an answer logs in by pressing again', async ({ page, empty }) => {
  await page.goto(empty.setupLink)
  await page.getByLabel('Your e-mail').fill('hoa@quanhoa.vn')
  await page.getByLabel('Choose a password').fill('ngoi ben ho uong tra')
  let lost = 0
  await page.route('**/auth/setup', async (route) => {
    if (route.request().method() !== 'POST' || lost++ > 0) return route.continue()
    await route.fetch()
    return route.abort()
  })
  const create = page.getByRole('button', { name: 'Create account' })
  await create.click()
  await expect(page.getByText('Can’t reach the server')).toBeVisible()
  await page.getByLabel('Choose a password').fill('another password than before')
  await create.click()
  await expect(page.getByText('This link is no longer valid')).toBeVisible() // another person may have used it
  await page.getByLabel('Choose a password').fill('ngoi ben ho uong tra')
  await create.click()
  await expect(page.getByLabel('Name of the restaurant')).toBeVisible()
  expect(lost).toBe(3)
})

// The server is killed at every step. The owner presses the same button again, and nothing is created twice.
test('a set-up continues after the server was killed', async ({ page, empty }) => {
  await page.setViewportSize(sizes.phone)
  const killed = async (press: () => Promise<void>) => {
    await empty.stop('SIGKILL')
    await press()
    await expect(page.getByText('Can’t reach the server').or(page.getByText('No connection')).first()).toBeVisible()
    await empty.start()
    await press()
  }
  await page.goto(empty.setupLink)
  await page.getByLabel('Your e-mail').fill('hoa@quanhoa.vn')
  await page.getByLabel('Choose a password').fill('ngoi ben ho uong tra')
  await killed(() => page.getByRole('button', { name: 'Create account' }).click())
  await expect(page.getByLabel('Name of the restaurant')).toBeVisible()

  await page.getByLabel('Name of the restaurant').fill('Quán Hoa')
  await killed(() => page.getByRole('button', { name: 'Create restaurant' }).click())
  await expect(page.getByText('What Quán Hoa needs before the first guest can order.')).toBeVisible()

  await page.getByRole('link', { name: 'Go to tables' }).click()
  await page.getByRole('button', { name: 'Add tables' }).click()
  await page.getByRole('dialog').getByLabel('Table names').fill('A1-A3')
  await killed(() => page.getByRole('dialog').getByRole('button', { name: 'Save' }).click())
  await expect(page.getByText('3 tables added.')).toBeVisible()

  // The server is killed before it has checked a menu, and while it imports it.
  await page.goto(`${empty.url}/console/menus`)
  await page.getByRole('button', { name: 'From a file' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import a menu' })
  await empty.stop('SIGKILL')
  await dialog.locator('input[type=file]').setInputFiles(menuFile(sixty))
  await expect(dialog.getByText('The file is checked as soon as it’s back.')).toBeVisible()
  await empty.start()
  await expect(dialog.getByText('New: 60. Changed: 0.')).toBeVisible()
  empty.pause() // it receives the request, and does nothing with it
  await dialog.getByRole('button', { name: 'Import' }).click()
  await expect(dialog.getByRole('progressbar').first()).toBeVisible()
  await empty.stop('SIGKILL')
  await expect(dialog.getByText('Can’t reach the server')).toBeVisible()
  await empty.start()
  await dialog.getByRole('button', { name: 'Import' }).click()
  await expect(page.getByText('Added: 60. Changed: 0.')).toBeVisible()
  expect((await empty.staff<{ total: number }>('GET', '/api/dishes?size=1')).total).toBe(60)

  // The console is reloaded while the server is unreachable, and recovers by itself.
  await page.goto(`${empty.url}/console/branches`)
  await page.evaluate(async () => navigator.serviceWorker.ready) // registered when the app starts
  await expect(page.getByRole('heading', { name: 'Quán Hoa' })).toHaveCount(1)
  await empty.stop('SIGKILL')
  await page.reload()
  await expect(page.getByText('Can’t reach the server')).toBeVisible()
  await empty.start()
  await expect(page.getByRole('heading', { name: 'Quán Hoa' })).toHaveCount(1)
})

// A frozen server accepts connections and answers nothing. The page shows that it waits, and continues without a reload.
test('a set-up continues after the server was frozen', async ({ page, empty }) => {
  await page.setViewportSize(sizes.phone)
  await shortenLimits(page)
  // Two presses: the first times out while the server is frozen. The server executes both requests when it continues.
  const tooLong = async (name: string) => {
    const button = page.getByRole('button', { name })
    empty.pause()
    await setFrozen(page, true)
    await button.click()
    await expect(page.getByText('Can’t reach the server').first()).toBeVisible()
    await setFrozen(page, false)
    await button.click()
    empty.resume()
  }
  await page.goto(empty.setupLink)
  await page.getByLabel('Your e-mail').fill('hoa@quanhoa.vn')
  await page.getByLabel('Choose a password').fill('ngoi ben ho uong tra')
  await tooLong('Create account')
  await page.getByLabel('Name of the restaurant').fill('Quán Hoa')
  await tooLong('Create restaurant')
  await expect(page.getByText('What Quán Hoa needs before the first guest can order.')).toBeVisible()
  const { items: branches } = await empty.staff<{ items: { name: string }[] }>('GET', '/api/branches')
  expect(branches.map((b) => b.name)).toEqual(['Quán Hoa'])

  // A pause within the time limit needs no second press, and a second one changes nothing.
  const dialog = page.getByRole('dialog')
  const briefly = async (act: () => Promise<void>) => {
    empty.pause()
    await act()
    await expect(dialog.getByRole('progressbar').first()).toBeVisible()
    empty.resume()
  }
  await page.getByRole('link', { name: 'Go to tables' }).click()
  await page.getByRole('button', { name: 'Add tables' }).click()
  await dialog.getByLabel('Table names').fill('A1-A3')
  await briefly(async () => {
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByLabel('Table names').press('Enter')
  })
  await expect(page.getByText('3 tables added.')).toBeVisible()
  await expect(page.getByRole('article')).toHaveCount(3)

  await page.goto(`${empty.url}/console/menus`)
  await page.getByRole('button', { name: 'From a file' }).click()
  await briefly(() => dialog.locator('input[type=file]').setInputFiles(menuFile(sixty)))
  await expect(dialog.getByText('New: 60. Changed: 0.')).toBeVisible()
  await briefly(async () => {
    await dialog.getByRole('button', { name: 'Import' }).click()
    await dialog.getByLabel('Publish right away').press('Enter')
  })
  await expect(page.getByText('Added: 60. Changed: 0.')).toBeVisible()
  expect((await empty.staff<{ total: number }>('GET', '/api/dishes?size=1')).total).toBe(60)
})
