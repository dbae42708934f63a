import type { Method } from './dto'

/** The boot data that the server writes into the page. */
interface Boot {
  methods: Method[]
  /** Whether the phone may cache the app's files. */
  worker: boolean
  /** Whether members may sign in with Google. */
  google: boolean
  /** The restaurant's own brand; every part is optional. The page itself contains its colours. */
  brand: Brand
}

export interface BrandPicture {
  url: string
  large?: string
  width: number
  height: number
}

export interface Brand {
  name?: string
  logo?: BrandPicture
  cover?: BrandPicture
  title?: Record<string, string> // by the API's locale
  text?: Record<string, string>
}

/** Whether a gateway accepts this amount. The server checks it again. */
export function suits(method: Method, amount: number, currency: string): boolean {
  switch (method) {
    case 'VNPAY':
      return currency === 'VND' && amount >= 5000
    case 'LINEPAY':
      return amount > 0 && ['TWD', 'THB', 'USD'].includes(currency)
    default:
      return true
  }
}

/**
 * The payment methods of an order. A delivery is not paid at the counter, unless there is no
 * other method.
 */
export function methodsFor(amount: number, currency: string, kind?: string): Method[] {
  const all = readBoot().methods.filter((m) => suits(m, amount, currency))
  const elsewhere = all.filter((m) => m !== 'COUNTER')
  return kind === 'DELIVERY' && elsewhere.length > 0 ? elsewhere : all
}

/** Whether guests can pay on their phones, and not only at the counter. */
export function paysOnPhone(page?: Document): boolean {
  return readBoot(page).methods.some((m) => m !== 'COUNTER')
}

/** Reads the page's boot data. Without boot data, a guest can still pay at the counter. */
export function readBoot(page: Document = document): Boot {
  try {
    const boot = JSON.parse(page.getElementById('boot')?.textContent ?? '') as Partial<Boot>
    if (Array.isArray(boot.methods) && boot.methods.length > 0) return { methods: boot.methods, worker: boot.worker === true, google: boot.google === true, brand: boot.brand ?? {} }
  } catch {
    // The element holds no boot data.
  }
  return { methods: ['COUNTER'], worker: false, google: false, brand: {} }
}
