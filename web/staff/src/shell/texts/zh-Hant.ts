import $vuetify from 'vuetify/lib/locale/zh-Hant.js'

import { gather } from './gather'

export default { $vuetify, ...gather(import.meta.glob('/staff/src/*/texts/zh-Hant.json', { eager: true, import: 'default' })) }
