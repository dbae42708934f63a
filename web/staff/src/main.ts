import { createApp } from 'vue'

import '@shared/styles/tokens.css'
import './base.css'
import App from './App.vue'
import { router } from './router'
import { setHost } from './shell/frame'
import { restoreLanguage } from './shell/i18n'
import { keepsSession, resume } from './shell/session'
import { restoreTheme } from './shell/theme'
import { registerWorker } from './shell/worker'

const app = createApp(App)
setHost(app)
restoreTheme()
// Texts and the session are loaded at the same time. The content of staff.html stays until the first page is complete.
if (keepsSession()) void resume().catch(() => undefined)
void restoreLanguage()
  .then(() => {
    app.use(router)
    return router.isReady().catch(() => undefined)
  })
  .then(() => app.mount('#app'))
if (import.meta.env.PROD) void registerWorker()
