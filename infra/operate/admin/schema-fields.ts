import type * as v from 'valibot'

/** One field of an action's input, as an operator gives it: `--bank.bank_name`. */
export type Field = {
  /** Dotted where it is inside another one. */
  readonly name: string
  readonly kind: 'text' | 'number' | 'boolean' | 'list'
  /** In words, for the help: `whole number`, `one of json, csv`. */
  readonly type: string
  readonly required: boolean
  /** Required as soon as another field of its group is given. */
  readonly withOthers: boolean
  /** `null` clears it. */
  readonly nullable: boolean
  readonly byDefault: string | undefined
  /** The rules the schema puts in words. */
  readonly rules: readonly string[]
}

/** As much of a valibot schema as its help needs; whatever else it is, it is shown as text and judged by the action. */
type Node = {
  readonly type?: string
  readonly wrapped?: Node
  readonly item?: Node
  readonly entries?: Readonly<Record<string, Node>>
  readonly options?: readonly unknown[]
  readonly literal?: unknown
  readonly default?: unknown
  readonly pipe?: readonly (Node & { readonly message?: unknown; readonly kind?: string })[]
}

type Wrapping = { readonly required: boolean; readonly nullable: boolean; readonly byDefault: string | undefined }

const PLAIN: Wrapping = { required: true, nullable: false, byDefault: undefined }

/** Takes off `optional` and `nullable`, also where they are the beginning of a pipe. */
const unwrapped = (node: Node, seen: Wrapping = PLAIN): { readonly node: Node; readonly wrapping: Wrapping } => {
  const { type, wrapped } = node
  if (wrapped === undefined) return { node, wrapping: seen }
  const isOptional = type === 'optional' || type === 'nullish'
  const isNullable = type === 'nullable' || type === 'nullish'
  return unwrapped(wrapped, {
    required: seen.required && !isOptional,
    nullable: seen.nullable || isNullable,
    byDefault: seen.byDefault ?? shownDefault(node.default),
  })
}

const shownDefault = (value: unknown): string | undefined => {
  if (value === undefined || typeof value === 'function') return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const KINDS: Readonly<Record<string, Field['kind']>> = { number: 'number', boolean: 'boolean', array: 'list' }
const WORDS: Readonly<Record<Field['kind'], string>> = {
  text: 'text',
  number: 'number',
  boolean: 'true or false',
  list: 'list',
}

/** A pipe can begin with another one. */
const isWhole = ({ type, pipe = [] }: Node): boolean =>
  type === 'safe_integer' || type === 'integer' || pipe.some((step) => step.pipe !== pipe && isWhole(step))

const typeOf = (node: Node): string => {
  if (node.options) return `one of ${node.options.map(String).join(', ')}`
  if (node.type === 'literal') return String(node.literal)
  if (node.item) return `list: ${typeOf(node.item)}`
  if (isWhole(node)) return 'whole number'
  return WORDS[KINDS[node.type ?? ''] ?? 'text']
}

/** Messages written by hand say what must be; those that a library makes up are of no use here. */
const rulesOf = ({ pipe = [] }: Node): readonly string[] =>
  pipe.flatMap(({ message }) => (typeof message === 'string' ? [message] : []))

const fieldsOfNode = (name: string, outer: Node, parentRequired: boolean): readonly Field[] => {
  const { node, wrapping } = unwrapped(outer)
  const required = parentRequired && wrapping.required
  if (node.entries) {
    const inner = Object.entries(node.entries).flatMap(([field, entry]) =>
      fieldsOfNode(`${name}.${field}`, entry, required),
    )
    return wrapping.nullable ? [clearing(name), ...inner] : inner
  }
  const withOthers = wrapping.required && !parentRequired
  const kind = KINDS[node.type ?? ''] ?? 'text'
  return [
    { name, kind, type: typeOf(node), ...wrapping, required, withOthers, rules: rulesOf(outer.pipe ? outer : node) },
  ]
}

/** A group of fields can be cleared as a whole. */
const clearing = (name: string): Field => ({
  name,
  kind: 'text',
  type: 'null',
  required: false,
  withOthers: false,
  nullable: true,
  byDefault: undefined,
  rules: [],
})

/** The fields of an action's input, in the schema's order, those inside others by their dotted names. */
export const fieldsOf = (schema: v.GenericSchema): readonly Field[] => {
  const root: Node = schema
  return Object.entries(root.entries ?? {}).flatMap(([name, node]) => fieldsOfNode(name, node, true))
}

/** Rules about fields together, which belong to none of them. */
export const rulesBetweenFields = (schema: v.GenericSchema): readonly string[] => rulesOf(schema)
