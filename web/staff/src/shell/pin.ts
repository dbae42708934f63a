/** The limits of a PIN's length. */
export const minPinLength = 4
export const maxPinLength = 8

/** Whether digits are allowed as a PIN: not all equal, and no sequence. The server has the same rule. */
export function isValidPin(pin: string): boolean {
  if (!new RegExp(`^\\d{${String(minPinLength)},${String(maxPinLength)}}$`).test(pin)) return false
  const steps = new Set([...pin].slice(1).map((d, i) => Number(d) - Number(pin[i])))
  return steps.size > 1 || ![-1, 0, 1].includes([...steps][0] ?? 0)
}
