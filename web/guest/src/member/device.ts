const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'], [/\bOPR\//, 'Opera'], [/SamsungBrowser/, 'Samsung Internet'], [/\bLine\//, 'LINE'], [/Firefox|FxiOS/, 'Firefox'],
  [/Chrome|CriOS/, 'Chrome'], [/Safari/, 'Safari'],
]
const systems: [RegExp, string][] = [
  [/iPhone/, 'iPhone'], [/iPad/, 'iPad'], [/Android/, 'Android'], [/Windows/, 'Windows'], [/Mac OS X|Macintosh/, 'Mac'], [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]

/** What people call the device that a browser says it runs on; what nobody knows is shown as it came. */
export function deviceName(userAgent: string): string {
  const named = [browsers, systems].map((kinds) => kinds.find(([sign]) => sign.test(userAgent))?.[1])
  return named.filter(Boolean).join(' · ') || userAgent
}
