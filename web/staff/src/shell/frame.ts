import { ref } from 'vue'

/** Whether a view wants the whole page for itself at the moment. */
export const frameless = ref(false)
