import { defineConfig } from '@playwright/test'

// Chromium comes from the system. One at a time is enough, and all that a small machine can bear.
export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  retries: 1, // a story that needs it is told as flaky, and is to be mended
  reporter: 'list',
  use: {
    viewport: { width: 390, height: 844 },
    locale: 'en',
    timezoneId: 'Asia/Ho_Chi_Minh',
    trace: 'retain-on-failure',
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
    { name: 'screenshots', testMatch: '*.shots.ts' },
  ],
})
