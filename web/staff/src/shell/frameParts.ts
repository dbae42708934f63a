// Loaded as one file by frame.ts.
export { default as AppFrame } from './AppFrame.vue'
export { default as AppNotices } from './AppNotices.vue'
