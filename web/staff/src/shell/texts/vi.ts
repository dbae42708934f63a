import $vuetify from 'vuetify/lib/locale/vi.js'

import { gather } from './gather'

export default { $vuetify, ...gather(import.meta.glob('/staff/src/*/texts/vi.json', { eager: true, import: 'default' })) }
