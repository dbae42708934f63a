import { mergeConfig } from 'vite'
import { defineConfig } from 'vitest/config'

import base from './vite.config'

export default mergeConfig(
  base({ mode: 'test', command: 'serve' }),
  defineConfig({
    server: { fs: { allow: ['..'] } }, // tests read files of the server, such as docs/openapi.yaml
    test: { environment: 'happy-dom', include: ['{guest,staff,shared}/**/*.spec.ts'] },
  }),
)
