import type { Allergens, Diet } from './allergens'

/** A group of options of a dish, such as its sizes. */
export interface OptionGroup {
  id: string
  kind: 'SIZE' | 'CHOICE' | 'COMBO'
  name: string
  min: number
  max: number | null // null: no limit
  free: number // units that cost nothing
  maxEach: number
  credit: boolean // substitution pricing: the defaults are credited against what is chosen instead
  defaultsCharge: boolean // whether a chosen default costs its price
  options: Option[]
}

export interface Option {
  id: string
  name: string
  price: number
  isDefault: boolean
  isAvailable: boolean
  allergens?: Allergens | null | undefined // null: not declared
  diets?: readonly Diet[] | undefined
  groups?: OptionGroup[] | null // the second level; there is no third
}

/** A chosen option. Name and price are those that the guest saw. */
export interface Choice {
  optionId: string
  qty: number
  name: string
  price: number
  options?: Choice[] | null
}

/** A chosen option in a request. */
export interface WireChoice {
  optionId: string
  qty: number
  options?: WireChoice[]
}

/** What the price of a dish depends on. */
export interface Optional {
  price: number
  groups?: OptionGroup[] | null
}

type Choices = readonly Choice[] | null | undefined

interface Picked {
  option: Option
  qty: number
  unit: number // the price of one, with the options of the second level
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)

function pickedOf(group: OptionGroup, choices: Choices): Picked[] {
  return (choices ?? []).flatMap((c) => {
    const option = group.options.find((o) => o.id === c.optionId)
    if (!option) return []
    const unit = option.price + sum((option.groups ?? []).map((g) => chargeOf(g, c.options)))
    return [{ option, qty: c.qty, unit }]
  })
}

/** The number of units that are chosen in a group. */
export function countOf(group: OptionGroup, choices: Choices): number {
  return sum(pickedOf(group, choices).map((p) => p.qty))
}

/** What the chosen options of a group add to the price of one unit of its dish. */
function chargeOf(group: OptionGroup, choices: Choices): number {
  const picked = pickedOf(group, choices)
  const total = sum(picked.map((p) => p.unit * p.qty))
  if (group.credit) return Math.max(0, total - sum(group.options.filter((o) => o.isDefault).map((o) => o.price)))
  // A default costs nothing up to its quantity of 1. Free units all have one price, so their order does not matter.
  const paid = picked.map((p) => ({ ...p, qty: p.qty - Number(!group.defaultsCharge && p.option.isDefault && p.qty > 0) }))
  let free = group.free
  return sum(paid.map((p, n) => {
    const without = Math.min(free, p.qty)
    free -= without
    const included = (picked[n]?.qty ?? 0) - p.qty
    return p.unit * p.qty - p.option.price * without + (p.unit - p.option.price) * included
  }))
}

/** The price of one unit of a dish with its chosen options. A chosen size replaces the price of the dish. */
export function unitPrice(dish: Optional, choices: Choices): number {
  const groups = dish.groups ?? []
  const [size] = groups.filter((g) => g.kind === 'SIZE').flatMap((g) => pickedOf(g, choices))
  return (size?.unit ?? dish.price) + sum(groups.filter((g) => g.kind !== 'SIZE').map((g) => chargeOf(g, choices)))
}

/** Whether a dish can only be ordered with a choice. */
export function needsChoice(dish: Optional): boolean {
  return (dish.groups ?? []).some((g) => g.min > 0)
}

/** The lowest price of a dish, and whether its required options have different prices. */
export function lowestPrice(dish: Optional): { price: number; varies: boolean } {
  const required = (dish.groups ?? []).filter((g) => g.min > 0)
  const cheapest = required.flatMap((g) => {
    const offered = g.options.some((o) => o.isAvailable) ? g.options.filter((o) => o.isAvailable) : g.options
    const choices: Choice[] = []
    for (const o of [...offered].sort((a, b) => a.price - b.price)) {
      const qty = Math.min(g.maxEach, g.min - sum(choices.map((c) => c.qty)))
      if (qty > 0) choices.push(chosen(o, qty))
    }
    return choices
  })
  const varies = required.some((g) => !g.credit && g.free < g.min && new Set(g.options.map((o) => o.price)).size > 1)
  return { price: unitPrice(dish, cheapest), varies }
}

/** Whether a required group of a dish has too few options left. */
export function lacksOptions(dish: Optional): boolean {
  return (dish.groups ?? []).some((g) => sum(g.options.map((o) => (o.isAvailable ? g.maxEach : 0))) < g.min)
}

/** An option as chosen, with the defaults of its second level. */
export function chosen(option: Option, qty = 1): Choice {
  const options = defaultsOf(option.groups)
  return { optionId: option.id, qty, name: option.name, price: option.price, ...(options.length ? { options } : {}) }
}

/** The options that are chosen beforehand: the available defaults. */
export function defaultsOf(groups: readonly OptionGroup[] | null | undefined): Choice[] {
  return (groups ?? []).flatMap((g) => g.options.filter((o) => o.isDefault && o.isAvailable).map((o) => chosen(o)))
}

/** The choices that can still be made: without options that are gone or sold out, with current names and prices. */
export function offered(groups: readonly OptionGroup[] | null | undefined, choices: Choices): Choice[] {
  return (groups ?? []).flatMap((g) => {
    let left = g.max ?? Infinity
    return g.options.flatMap((o) => {
      const choice = (choices ?? []).find((c) => c.optionId === o.id)
      const qty = Math.min(choice?.qty ?? 0, g.maxEach, left)
      if (!o.isAvailable || qty < 1) return []
      left -= qty
      const options = offered(o.groups, choice?.options)
      return [{ optionId: o.id, qty, name: o.name, price: o.price, ...(options.length ? { options } : {}) }]
    })
  })
}

/** A group with too few or too many chosen options. The path names the option above it. */
export interface Missing {
  group: OptionGroup
  path: string
}

/** Identifies a group on a screen. */
export function groupPath(parent: string, group: Pick<OptionGroup, 'id'>): string {
  return `${parent}-${group.id}`
}

/** The first group, in the order of the screen, whose limits the choices do not keep. */
export function missingGroup(groups: readonly OptionGroup[] | null | undefined, choices: Choices, parent = ''): Missing | undefined {
  for (const group of groups ?? []) {
    const path = groupPath(parent, group)
    const picked = pickedOf(group, choices)
    const count = sum(picked.map((p) => p.qty))
    const most = group.max ?? Infinity
    if (count < group.min || count > most || picked.some((p) => p.qty > group.maxEach)) return { group, path }
    for (const { option } of picked) {
      const below = (choices ?? []).find((c) => c.optionId === option.id)?.options
      const missing = missingGroup(option.groups, below, `${path}-${option.id}`)
      if (missing) return missing
    }
  }
  return undefined
}

/** Why a line's choices cannot be ordered from the current menu. */
export interface ChoiceProblem {
  code: 'gone' | 'soldOut' | 'changed'
  names: string[] // of the options, or of the group; empty if the server no longer knows them
}

/** The reason why the choices of a line cannot be ordered; undefined if they can. */
export function choiceProblem(dish: Optional, choices: Choices): ChoiceProblem | undefined {
  const all = [...flat(dish.groups, choices)]
  const gone = all.filter((f) => !f.option)
  if (gone.length > 0) return { code: 'gone', names: gone.map((f) => f.choice.name).filter(Boolean) }
  const soldOut = all.flatMap((f) => (f.option && !f.option.isAvailable ? [f.option.name] : []))
  if (soldOut.length > 0) return { code: 'soldOut', names: soldOut }
  const missing = missingGroup(dish.groups, choices)
  return missing && { code: 'changed', names: [missing.group.name] }
}

function* flat(groups: readonly OptionGroup[] | null | undefined, choices: Choices): Generator<{ choice: Choice; option: Option | undefined }> {
  for (const choice of choices ?? []) {
    const option = find(groups, choice.optionId)
    yield { choice, option }
    yield* flat(option?.groups, choice.options)
  }
}

function find(groups: readonly OptionGroup[] | null | undefined, id: string): Option | undefined {
  return groups?.flatMap((g) => g.options).find((o) => o.id === id)
}

/** Whether an option is among the choices. */
export function contains(choices: Choices, optionId: string): boolean {
  return (choices ?? []).some((c) => c.optionId === optionId || contains(c.options, optionId))
}

/** Choices with the names and prices of the current menu. Options that are gone keep theirs. */
export function renamed(groups: readonly OptionGroup[] | null | undefined, choices: Choices): Choice[] {
  return (choices ?? []).map((c) => {
    const option = find(groups, c.optionId)
    const options = renamed(option?.groups, c.options)
    return { ...c, name: option?.name ?? c.name, price: option?.price ?? c.price, ...(options.length ? { options } : {}) }
  })
}

const byId = (a: string, b: string) => a.length - b.length || (a < b ? -1 : Number(a > b))

/** The choices in canonical order, by group and option id, with equal ones added. Equal wishes become equal lists. */
export function canonical(groups: readonly OptionGroup[] | null | undefined, choices: Choices): Choice[] {
  const place = (c: Choice) => {
    const at = (groups ?? []).findIndex((g) => g.options.some((o) => o.id === c.optionId))
    return at < 0 ? Infinity : at
  }
  const found = new Map<string, Choice>()
  for (const c of choices ?? []) {
    if (c.qty < 1) continue
    const options = canonical(find(groups, c.optionId)?.groups, c.options)
    const { optionId, qty, name, price } = c
    const key = `${optionId}(${choicesKey(options)})`
    const old = found.get(key)
    found.set(key, { optionId, qty: qty + (old?.qty ?? 0), name, price, ...(options.length ? { options } : {}) })
  }
  const order = (a: Choice, b: Choice) => {
    const [one, other] = [place(a), place(b)]
    return (one === other ? 0 : one - other) || byId(a.optionId, b.optionId) || byId(choicesKey(a.options), choicesKey(b.options))
  }
  return [...found.values()].sort(order)
}

/** Identifies choices, in any order; empty without any. */
export function choicesKey(choices: Choices): string {
  return (choices ?? []).map((c) => `${c.optionId}x${String(c.qty)}${c.options?.length ? `(${choicesKey(c.options)})` : ''}`).sort().join(',')
}

/** Choices as requests contain them. */
export function wired(choices: Choices): WireChoice[] {
  return (choices ?? []).map(({ optionId, qty, options }) => ({ optionId, qty, ...(options?.length ? { options: wired(options) } : {}) }))
}

/** Choices as text: "L · 2 × Pearls (warm)". */
export function choicesText(choices: Choices): string {
  return (choices ?? [])
    .filter((c) => c.name)
    .map((c) => `${c.qty > 1 ? `${String(c.qty)} × ` : ''}${c.name}${c.options?.length ? ` (${choicesText(c.options)})` : ''}`)
    .join(' · ')
}
