import { parseArgs } from 'node:util'
import { UsageError } from '../check/command-line.ts'
import type { Field } from './schema-fields.ts'

export type Command = {
  readonly stage: string
  readonly json: boolean
  readonly help: boolean
  readonly payload: unknown
}

export const DEFAULT_STAGE = 'local'

/** Belong to the tool and not to the action. */
const OWN = { stage: 'string', json: 'boolean', help: 'boolean', payload: 'string' } as const
const isOwn = (name: string): name is keyof typeof OWN => Object.hasOwn(OWN, name)

type Json = string | number | boolean | null | readonly Json[]

const NUMBER = /^-?\d+(\.\d+)?$/

/** Text as the field's schema wants it. What does not fit is passed on as it is: the action says what is wrong. */
const coerced = (texts: readonly string[], field: Field | undefined): Json => {
  const text = texts.at(-1) ?? ''
  if (field?.nullable && text === 'null') return null
  switch (field?.kind) {
    case 'number':
      return NUMBER.test(text) ? Number(text) : text
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'list':
      return texts.flatMap((some) => some.split(',')).map((one) => one.trim())
    case 'text':
    case undefined:
      return text
  }
}

type Tree = { [name: string]: Json | Tree }

const isTree = (value: Json | Tree | undefined): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const put = (tree: Tree, name: string, value: Json): void => {
  const path = name.split('.')
  const last = path.pop() ?? name
  let node = tree
  for (const part of path) {
    const inner = node[part]
    const next: Tree = isTree(inner) ? inner : {}
    node[part] = next
    node = next
  }
  node[last] = value
}

/** `--confirm-unfunded` is the same as `--confirm_unfunded`; a value may follow behind a space or an equals sign. */
const OPTION = /^--([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/

/**
 * Every option with its value joined to it, so that a value may begin with a dash, and a yes-or-no field may come
 * without one.
 */
const joined = (args: readonly string[], fields: ReadonlyMap<string, Field>): readonly string[] => {
  const options: string[] = []
  for (let at = 0; at < args.length; at++) {
    const [, dashed, given] = OPTION.exec(args[at] ?? '') ?? []
    if (dashed === undefined) throw new UsageError(`unexpected argument: ${args[at] ?? ''}`)
    const name = dashed.replaceAll('-', '_')
    const next = args[at + 1]
    const isFlag = isOwn(name) && OWN[name] === 'boolean'
    const isValue = next !== undefined && !next.startsWith('--')
    if (given !== undefined) options.push(`--${name}=${given}`)
    else if (isFlag) options.push(`--${name}`)
    else if (fields.get(name)?.kind === 'boolean' && next !== 'true' && next !== 'false') options.push(`--${name}=true`)
    else if (isValue) options.push(`--${name}=${args[++at] ?? ''}`)
    else throw new UsageError(`--${name} needs a value`)
  }
  return options
}

const parsedPayload = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    throw new UsageError('--payload must be JSON')
  }
}

/**
 * Reads what follows the action's name. Unknown fields are passed on as text, so that every refusal comes from the
 * action itself, in its own words, whatever version of it is deployed. Throws `UsageError`.
 */
export const parseCommand = (args: readonly string[], known: readonly Field[], operator?: string): Command => {
  const fields = new Map(known.map((field) => [field.name, field]))
  const options = joined(args, fields)
  const names = options.map((option) => option.slice(2).split('=', 1)[0] ?? '').filter((name) => !isOwn(name))
  const { values } = parseArgs({
    args: [...options],
    options: {
      stage: { type: 'string', default: DEFAULT_STAGE },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      payload: { type: 'string' },
      ...Object.fromEntries(names.map((name) => [name, { type: 'string', multiple: true } as const])),
    },
  })
  const tree: Tree = {}
  const texts = new Map<string, unknown>(Object.entries(values))
  for (const name of new Set(names)) {
    const given = texts.get(name)
    put(tree, name, coerced(Array.isArray(given) ? given.map(String) : [], fields.get(name)))
  }
  const { stage, json, help, payload } = values
  if (payload !== undefined && names.length > 0) throw new UsageError('give --payload or fields, not both')
  if (payload === undefined && operator !== undefined && fields.has('operator')) tree['operator'] ??= operator
  return { stage, json, help, payload: payload === undefined ? tree : parsedPayload(payload) }
}
