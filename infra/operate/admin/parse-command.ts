import { isJsonObject, isLosslessNumber, readJson } from '../../../shared/json.ts'
import { asksForHelp, UsageError, wholeNumber } from '../../local/terminal/command-line.ts'
import type { Field } from './schema-fields.ts'

export type Command = {
  readonly stage: string
  readonly json: boolean
  readonly help: boolean
  readonly payload: Payload
}

type Payload = Readonly<Record<string, unknown>>

export const DEFAULT_STAGE = 'local'

/** Belong to the tool and not to the action. */
const OWN: Readonly<Record<string, 'flag' | 'text'>> = { stage: 'text', json: 'flag', payload: 'text' }
const ownKind = (name: string): 'flag' | 'text' | undefined => (Object.hasOwn(OWN, name) ? OWN[name] : undefined)

type Json = string | number | boolean | null | readonly Json[]

const numberFrom = (what: string, text: string): number => {
  const value = wholeNumber(text)
  if (value !== undefined) return value
  throw new UsageError(
    /^-?\d+$/.test(text)
      ? `${what} is too large: at most ${Number.MAX_SAFE_INTEGER}`
      : `${what} must be a whole number, written in digits alone: 10000, not 10.000 or 1e4`,
  )
}

/** Text as the field's schema wants it. What else does not fit is passed on as it is: the action says what is wrong. */
const coerced = (name: string, texts: readonly string[], field: Field | undefined): Json => {
  const isList = field?.kind === 'list'
  const values = isList ? texts.flatMap((some) => some.split(',')).map((one) => one.trim()) : texts
  const [text = '', again] = values
  if (!isList && again !== undefined) throw new UsageError(`--${name} is given twice`)
  if (field?.nullable && text === 'null' && again === undefined) return null
  if (field !== undefined && values.includes('null')) throw new UsageError(`--${name} cannot be null`)
  if (isList) return values
  switch (field?.kind) {
    case 'number':
      return numberFrom(`--${name}`, text)
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true'
      throw new UsageError(`--${name} is true or false, not ${text || '""'}`)
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
    const inner = Object.hasOwn(node, part) ? node[part] : {}
    if (!isTree(inner)) throw new UsageError(`--${part} and --${name} exclude each other`)
    node[part] = inner
    node = inner
  }
  if (Object.hasOwn(node, last)) throw new UsageError(`--${name} and --${name}.… exclude each other`)
  node[last] = value
}

/** `--confirm-unfunded` is the same as `--confirm_unfunded`; a value may follow behind a space or an equals sign. */
const OPTION = /^--([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/

/** The field that an id without a name means: the first id the action requires, else the only one it takes. */
export const positionalField = (fields: readonly Field[]): Field | undefined => {
  const ids = fields.filter(({ name }) => name.endsWith('_id'))
  return ids.find(({ required }) => required) ?? (ids.length === 1 ? ids[0] : undefined)
}

/**
 * Every option with its texts, in the order given. A value may begin with a dash, and a yes-or-no field may come
 * without one; a word behind it is its value all the same, lest a wrong one pass for the id.
 */
const optionsOf = (args: readonly string[], known: readonly Field[]): ReadonlyMap<string, readonly string[]> => {
  const kinds = new Map(known.map(({ name, kind }) => [name, kind]))
  const options = new Map<string, readonly string[]>()
  const add = (name: string, text: string) => options.set(name, [...(options.get(name) ?? []), text])
  const ids: string[] = []
  for (let at = 0; at < args.length; at++) {
    const argument = args[at] ?? ''
    const [, dashed, given] = OPTION.exec(argument) ?? []
    if (dashed === undefined) {
      if (argument.startsWith('-')) throw new UsageError(`unexpected argument: ${argument}`)
      ids.push(argument)
      continue
    }
    const name = dashed.replaceAll('-', '_')
    const own = ownKind(name)
    if (own === 'flag') {
      if (given !== undefined) throw new UsageError(`--${name} takes no value`)
      add(name, '')
      continue
    }
    const isNext = given === undefined && args[at + 1]?.startsWith('--') === false
    const text = isNext ? args[++at] : (given ?? (kinds.get(name) === 'boolean' ? 'true' : undefined))
    if (text === undefined && own === undefined && !kinds.has(name)) throw noOption(name, known)
    if (text === undefined || (own === 'text' && text === '')) throw new UsageError(`--${name} needs a value`)
    add(name, text)
  }
  for (const text of ids) add(nameOfId(text, known, options), text)
  return options
}

const noOption = (name: string, known: readonly Field[]): UsageError => {
  const names = [...known.map((field) => field.name), ...Object.keys(OWN), 'help']
  return new UsageError(`--${name} is no option here; there are ${names.map((one) => `--${one}`).join(', ')}`)
}

const nameOfId = (text: string, known: readonly Field[], options: ReadonlyMap<string, unknown>): string => {
  const id = positionalField(known)
  if (id === undefined) throw new UsageError(`unexpected argument: ${text}`)
  if (!options.has(id.name)) return id.name
  throw new UsageError(
    `unexpected argument: ${text}; one id only comes without its name, --${id.name}, and it is given already`,
  )
}

const inDigits = (value: unknown, name: string): unknown => {
  if (isLosslessNumber(value)) return numberFrom(`${name} in --payload`, value.value)
  if (Array.isArray(value)) return value.map((one) => inDigits(one, name))
  return isJsonObject(value) ? membersInDigits(value, `${name}.`) : value
}

const membersInDigits = (object: Payload, prefix = ''): Payload =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, inDigits(value, `${prefix}${name}`)]))

/** Held to the rules of the fields: numbers in digits alone, nothing twice. */
const payloadFrom = (text: string): Payload => {
  const read = readJson(Buffer.from(text))
  if (!read.ok) throw new UsageError(`--payload: ${read.reason}`)
  if (!isJsonObject(read.value)) throw new UsageError('--payload must be a JSON object')
  return membersInDigits(read.value)
}

/**
 * Reads what follows the action's name. Unknown fields are passed on as text, so that every refusal of a field comes
 * from the action itself, in its own words, whatever version of it is deployed. Throws `UsageError`.
 */
export const parseCommand = (args: readonly string[], known: readonly Field[], operator?: string): Command => {
  if (asksForHelp(args)) return { stage: DEFAULT_STAGE, json: false, help: true, payload: {} }
  const fields = new Map(known.map((field) => [field.name, field]))
  const options = optionsOf(args, known)
  const tree: Tree = {}
  for (const [name, texts] of options) {
    const value = coerced(name, texts, fields.get(name))
    if (ownKind(name) === undefined) put(tree, name, value)
  }
  const payload = options.get('payload')?.[0]
  if (payload !== undefined && Object.keys(tree).length > 0) throw new UsageError('give --payload or fields, not both')
  if (payload === undefined && operator !== undefined && fields.has('operator')) tree['operator'] ??= operator
  return {
    stage: options.get('stage')?.[0] ?? DEFAULT_STAGE,
    json: options.has('json'),
    help: false,
    payload: payload === undefined ? tree : payloadFrom(payload),
  }
}
