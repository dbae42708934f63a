const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'], [/\bOPR\//, 'Opera'], [/SamsungBrowser/, 'Samsung Internet'], [/\bLine\//, 'LINE'], [/Firefox|FxiOS/, 'Firefox'],
  [/Chrome|CriOS/, 'Chrome'], [/Safari/, 'Safari'],
]
const systems: [RegExp, string][] = [
  [/iPhone/, 'iPhone'], [/iPad/, 'iPad'], [/Android/, 'Android'], [/Windows/, 'Windows'], [/Mac OS X|Macintosh/, 'Mac'], [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]

/** Returns the common name of the device in a User-Agent header, or an unknown header unchanged. */
export function deviceName(userAgent: string): string {
  const named = [browsers, systems].map((kinds) => kinds.find(([sign]) => sign.test(userAgent))?.[1])
  return named.filter(Boolean).join(' · ') || userAgent
}
