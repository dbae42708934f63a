import { createPinia } from 'pinia'
import { createApp } from 'vue'

import '@shared/styles/tokens.css'
import './styles.css'
import App from './App.vue'
import { router } from './router'
import { watchConnection, whenReachable } from './shell/connection'
import { restorePreferences } from './shell/preferences'
import { useSession } from './table/session'

const app = createApp(App).use(createPinia())
const session = useSession()
session.resume()
// A scanned table's visit is requested together with the texts, instead of after the first screen is shown.
const scanned = /^\/m\/([^/]+)\/?$/.exec(location.pathname)?.[1]
if (scanned) session.request(scanned)
addEventListener('storage', (e) => {
  session.onStorage(e.key, e.newValue)
})
watchConnection()

/** Shows the app once its texts are loaded. */
async function begin(): Promise<void> {
  try {
    await restorePreferences()
  } catch {
    await whenReachable()
    await begin()
    return
  }
  app.use(router).mount('#app')
}

void begin()
