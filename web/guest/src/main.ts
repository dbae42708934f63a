import { createPinia } from 'pinia'
import { createApp } from 'vue'

import '@shared/styles/tokens.css'
import './styles.css'
import App from './App.vue'
import { watchConnection } from './composables/connection'
import { restorePreferences } from './composables/preferences'
import { router } from './router'
import { useSession } from './store/session'

const app = createApp(App).use(createPinia())
const session = useSession()
session.resume()
addEventListener('storage', (e) => {
  session.hear(e.key, e.newValue)
})
watchConnection()
void restorePreferences().then(() => app.use(router).mount('#app'))
