import { gather } from './gather'

export { default as components } from 'vuetify/lib/locale/en.js'
export default gather(import.meta.glob('/staff/src/*/texts/en.json', { eager: true, import: 'default' }))
