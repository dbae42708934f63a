/** The labels of the fields that must still be filled in, in the order of the form. */
export function unfilled(...fields: readonly (readonly [label: string, isFilled: boolean])[]): string[] {
  return fields.filter(([, isFilled]) => !isFilled).map(([label]) => label)
}
