import { afterEach, expect, test } from 'vitest'

import { setLanguage } from './i18n'
import { fullName, nameOrder } from './names'

afterEach(() => setLanguage('en'))

test('the family name comes first in Vietnamese and Chinese, and last in English', async () => {
  const [lan, mei] = [{ firstName: 'Lan', surname: 'Nguyễn' }, { firstName: '美玲', surname: '陳' }]
  await setLanguage('en')
  expect([nameOrder()[0], fullName(lan)]).toEqual(['firstName', 'Lan Nguyễn'])
  await setLanguage('vi')
  expect([nameOrder()[0], fullName(lan)]).toEqual(['surname', 'Nguyễn Lan'])
  await setLanguage('zh-Hant')
  expect([nameOrder()[0], fullName(lan), fullName(mei)]).toEqual(['surname', 'Nguyễn Lan', '陳美玲'])
})

test('a name may lack one part, or both', () => {
  expect([fullName({ firstName: ' Lan ', surname: null }), fullName({ surname: 'Nguyễn' }), fullName(undefined)]).toEqual(['Lan', 'Nguyễn', ''])
})
