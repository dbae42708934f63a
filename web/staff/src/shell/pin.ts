/** How many digits a PIN has. */
export const pinLeast = 4
export const pinMost = 8

/** Whether digits are allowed as a PIN: not all the same, and no sequence. The server checks the same. */
export function fitPin(pin: string): boolean {
  if (!new RegExp(`^\\d{${String(pinLeast)},${String(pinMost)}}$`).test(pin)) return false
  const steps = new Set([...pin].slice(1).map((d, i) => Number(d) - Number(pin[i])))
  return steps.size > 1 || ![-1, 0, 1].includes([...steps][0] ?? 0)
}
