/** Puts the texts of each feature under the name of its folder: /staff/src/tables/texts/en.json becomes tables. */
export function gather(files: Record<string, unknown>): Record<string, Record<string, string>> {
  return Object.fromEntries(
    Object.entries(files).map(([path, texts]) => [path.split('/').at(-3) ?? '', texts as Record<string, string>]),
  )
}
