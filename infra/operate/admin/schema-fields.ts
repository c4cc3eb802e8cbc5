import type * as v from 'valibot'

/** A field of an action's input, as an operator gives it. */
export type Field = {
  /** Dotted if the field is inside another field. */
  readonly name: string
  /** `null`: a group of fields that can only be cleared together. */
  readonly kind: 'text' | 'whole number' | 'true|false' | 'list' | 'json' | 'null'
  readonly required: boolean
  readonly nullable: boolean
  /** Whether the field is required, its default, its choices, and the schema's own messages. */
  readonly notes: readonly string[]
}

/**
 * The part of a valibot schema that the help reads. A field of another kind is shown as text; the
 * action checks it.
 */
type Node = {
  readonly type?: string
  readonly wrapped?: Node
  readonly item?: Node
  readonly entries?: Readonly<Record<string, Node>>
  readonly options?: readonly unknown[]
  readonly literal?: unknown
  readonly default?: string | number | boolean
  readonly pipe?: readonly { readonly message?: unknown }[]
}

const KINDS: Readonly<Record<string, Field['kind']>> = {
  number: 'whole number',
  boolean: 'true|false',
  array: 'list',
  custom: 'json',
}

/** The messages that the schema sets itself; valibot's generated messages do not help here. */
export function rulesOf({ pipe = [] }: Node) {
  const messages = pipe.flatMap(({ message }) => (typeof message === 'string' ? [message] : []))
  return [...new Set(messages)]
}

/** In the schema's order. Inner fields have dotted names. */
export function fieldsOf(schema: v.GenericSchema): readonly Field[] {
  const { entries = {} }: Node = schema
  return Object.entries(entries).flatMap(([name, node]) => fieldsOfNode(name, node, true))
}

function fieldsOfNode(name: string, outer: Node, groupRequired: boolean): readonly Field[] {
  const { node, nullable, defaultValue, required: isRequired } = unwrapNode(outer)
  const required = isRequired && groupRequired
  const clears = nullable ? ['null clears it'] : []
  if (node.entries) {
    const inner = Object.entries(node.entries).flatMap(([field, entry]) =>
      fieldsOfNode(`${name}.${field}`, entry, required),
    )
    return nullable
      ? [{ name, kind: 'null', required: false, nullable, notes: clears }, ...inner]
      : inner
  }
  const need = isRequired && !required ? ['with the others'] : needOf(required, defaultValue)
  const notes = [...need, ...choicesOf(node), ...clears, ...rulesOf(outer.pipe ? outer : node)]
  return [{ name, kind: kindOf(node), required, nullable, notes }]
}

/** Also at the beginning of a pipe. */
function unwrapNode(node: Node): {
  node: Node
  required: boolean
  nullable: boolean
  defaultValue: Node['default']
} {
  if (node.wrapped === undefined)
    return { node, required: true, nullable: false, defaultValue: undefined }
  const inner = unwrapNode(node.wrapped)
  return {
    node: inner.node,
    required: inner.required && !/optional|nullish/.test(node.type ?? ''),
    nullable: inner.nullable || /nullable|nullish/.test(node.type ?? ''),
    defaultValue: node.default ?? inner.defaultValue,
  }
}

function needOf(required: boolean, defaultValue: Node['default']) {
  if (required) return ['required']
  return defaultValue === undefined ? [] : [`default ${String(defaultValue)}`]
}

function choicesOf({
  item,
  literal,
  options = literal === undefined ? [] : [literal],
}: Node): readonly string[] {
  if (item) return [...choicesOf(item), 'repeat it, or separate with commas']
  // The options of a union are schemas, not values.
  const values = options.filter((option) => typeof option !== 'object')
  return values.length === 0 ? [] : [`one of ${values.join(', ')}`]
}

function kindOf({ type = '', literal }: Node): Field['kind'] {
  return typeof literal === 'boolean' ? 'true|false' : (KINDS[type] ?? 'text')
}
