import { defineConfig } from '@playwright/test'

// Chromium comes from the system. Two workers keep two cores busy. Traces would cost more than a tenth of the time: a
// failed test leaves a screenshot and a description of the page, and `--trace on` records a trace.
export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  workers: 2,
  fullyParallel: true,
  timeout: 120_000,
  expect: { timeout: 10_000 },
  // A test that fails only sometimes shows a bug of the test or of the product. It runs again on a new server, so that one
  // of 126 does not hide the result of the others, and the report names it as flaky.
  retries: 1,
  reporter: 'list',
  use: {
    viewport: { width: 390, height: 844 },
    contextOptions: { reducedMotion: 'reduce' },
    locale: 'en',
    timezoneId: 'Asia/Ho_Chi_Minh',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync',
      ],
    },
  },
  projects: [
    { name: 'guest', testMatch: '*.spec.ts' },
    { name: 'vitals', testMatch: '*.measure.ts', fullyParallel: false, workers: 1 },
    { name: 'screenshots', testMatch: '*.shots.ts', fullyParallel: false },
  ],
})
