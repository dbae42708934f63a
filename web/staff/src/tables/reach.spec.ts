import { expect, test } from 'vitest'

import { reachOf } from './reach'

test.each([
  ['http://127.0.0.1:8080/m/x', 'machine'], ['http://localhost/m/x', 'machine'], ['http://[::1]:8080/m/x', 'machine'], ['http://127.9.9.9/', 'machine'],
  ['http://192.168.1.7:8080/m/x', 'network'], ['http://10.0.0.1/', 'network'], ['http://172.16.0.1/', 'network'], ['http://172.31.9.9/', 'network'],
  ['http://169.254.0.1/', 'network'], ['http://[fd00::1]/', 'network'], ['http://[fe80::1]/', 'network'], ['http://till.local/', 'network'], ['http://till/', 'network'],
  ['https://pho.example/m/x', 'anywhere'], ['http://172.32.0.1/', 'anywhere'], ['http://8.8.8.8/', 'anywhere'], ['http://10.example.com/', 'anywhere'],
] as const)('the reach of %s is %s', (link, reach) => {
  expect(reachOf(link)).toBe(reach)
})
