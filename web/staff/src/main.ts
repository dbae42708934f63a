import { VueQueryPlugin } from '@tanstack/vue-query'
import { createApp } from 'vue'

import App from './App.vue'
import { router } from './router'
import { restoreLanguage } from './shell/i18n'
import { restoreTheme, sheetHead, vuetify } from './shell/look'
import { forgetBranches } from './shell/branch'
import { queries } from './shell/query'
import { keepsSession, onLeave, resume } from './shell/session'
import { registerWorker } from './shell/worker'
import './styles.css'

// A change of the user clears all cached answers.
onLeave(() => {
  queries.clear()
  forgetBranches()
})

const app = createApp(App).provide('usehead', sheetHead()).use(vuetify)
app.use(VueQueryPlugin, { queryClient: queries })
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
