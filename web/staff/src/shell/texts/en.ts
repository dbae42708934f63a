import $vuetify from 'vuetify/lib/locale/en.js'

import { gather } from './gather'

export default { $vuetify, ...gather(import.meta.glob('/staff/src/*/texts/en.json', { eager: true, import: 'default' })) }
