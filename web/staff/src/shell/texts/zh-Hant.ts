import { gather } from './gather'

export { default as components } from 'vuetify/lib/locale/zh-Hant.js'
export default gather(import.meta.glob('/staff/src/*/texts/zh-Hant.json', { eager: true, import: 'default' }))
