import { gather } from './gather'

export { default as components } from 'vuetify/lib/locale/vi.js'
export default gather(import.meta.glob('/staff/src/*/texts/vi.json', { eager: true, import: 'default' }))
