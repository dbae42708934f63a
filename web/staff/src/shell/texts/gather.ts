/** Joins the texts of all features: the key `name` in /staff/src/tables/texts/en.json becomes tables.name. */
export function gather(files: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).flatMap(([path, texts]) =>
    Object.entries(texts as Record<string, string>).map(([name, text]) => [`${path.split('/').at(-3) ?? ''}.${name}`, text] as const)))
}
