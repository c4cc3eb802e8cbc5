import { type Command, InvalidArgumentError, Option } from 'commander'
import { isJsonObject, isLosslessNumber, readJson } from '../../../shared/json.ts'
import { wholeNumber } from '../../local/terminal/command-line.ts'
import type { Described } from './action.ts'
import { type Field, fieldsOf, rulesOf } from './schema-fields.ts'

export type Payload = Readonly<Record<string, unknown>>

/** An operator's request: the action's input, the stage, and how to show the answer. */
export type Asked = {
  readonly stage: string
  readonly json: boolean
  /** Repeats the action until nothing is left. */
  readonly all?: boolean
  readonly payload: Payload
  /** A CSV file with a line for each call. The payload has the fields that all calls share. */
  readonly file?: string
}

export const LOCAL_STAGE = 'local'

const WRITTEN = `a whole number of at most ${Number.MAX_SAFE_INTEGER}, in digits alone: 10000, not 10.000 or 1e4.`

/** Converts text to the field's type. Any other wrong value is passed on, and the action reports it. */
export function valueFrom({ kind, nullable }: Field, text: string): unknown {
  const items = kind === 'list' ? text.split(',').map((one) => one.trim()) : [text]
  if (nullable && text === 'null') return null
  if (items.includes('null')) throw new InvalidArgumentError('It cannot be null.')
  if (kind === 'list') return items
  if (kind === 'whole number') return numberFrom(text)
  if (kind !== 'true|false') return text
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('It is true or false.')
  return text === 'true'
}

function numberFrom(text: string): number {
  const value = wholeNumber(text)
  if (value === undefined) throw new InvalidArgumentError(`${text} is not ${WRITTEN}`)
  return value
}

/** `bank.bank_name` is a member of `bank`. */
export function putMember(
  tree: Payload,
  [first = '', ...rest]: readonly string[],
  value: unknown,
): Payload {
  const inner = tree[first]
  return {
    ...tree,
    [first]: rest.length === 0 ? value : putMember(isJsonObject(inner) ? inner : {}, rest, value),
  }
}

/**
 * Makes a command of an action, from the action's schema: its fields are options, and its id needs no name. `operator`
 * is the default for an action that requires an operator.
 */
export function defineAction(
  command: Command,
  { summary, input, takesFile = false, isPaged = false }: Described,
  operator: string | undefined,
  run: (asked: Asked) => Promise<void> | void,
): void {
  const fields = input ? fieldsOf(input) : []
  const values = new Map<string, unknown>()
  const takes = (field: Field) => (text: string) => {
    const before = values.get(field.name)
    const value = valueFrom(field, once(text, Array.isArray(before) ? undefined : before))
    values.set(
      field.name,
      Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value,
    )
    return text
  }
  command.summary(/^.*?\.(?=\s|$)/.exec(summary)?.[0] ?? summary).description(summary)
  const id = positionalField(fields)
  if (id) command.argument(`[${id.name}]`, '', takes(id))
  command.optionsGroup('Fields:')
  for (const field of fields) command.addOption(optionOf(field, takes(field), fields))
  command
    .optionsGroup('Options:')
    .option(
      '--stage <name>',
      'local (the default) is this machine; any other is on AWS, with your credentials',
      once,
    )
    .option('--json', 'prints the answer as JSON, with all fields')
  if (input)
    command.option('--payload <json>', 'the whole input as JSON, instead of fields', payloadFrom)
  if (takesFile)
    command.option(
      '--file <file>',
      'a CSV file: each line is one call, each column one field',
      once,
    )
  if (isPaged) command.option('--all', 'repeats until nothing is left, and prints the sums')
  const rules = input ? rulesOf(input).map((rule) => `\nTogether: ${rule}.`) : []
  command.addHelpText('after', rules.join('')).action(() => {
    const {
      stage = LOCAL_STAGE,
      json = false,
      all = false,
      payload,
      file,
    } = command.opts<Partial<Asked>>()
    if (payload && values.size > 0)
      return command.error('error: give --payload or fields, not both')
    if (file !== undefined && (payload || [...values.keys()].some((name) => name !== 'operator'))) {
      return command.error('error: give --file or fields, not both')
    }
    const isAsked = fields.some(({ name }) => name === 'operator') && !values.has('operator')
    if (operator && isAsked) values.set('operator', operator)
    const named = [...values].reduce<Payload>(
      (tree, [name, value]) => putMember(tree, name.split('.'), value),
      {},
    )
    return run({
      stage,
      json,
      ...(all && { all }),
      payload: payload ?? named,
      ...(file !== undefined && { file }),
    })
  })
}

/** An option's text, given once. If another option follows, the operator forgot the value. */
function once(text: string, before?: unknown): string {
  if (text === '' || text.startsWith('--')) throw new InvalidArgumentError('It needs a value.')
  if (before !== undefined) throw new InvalidArgumentError('It is given twice.')
  return text
}

/** The field of an id without a name: the first id that the action requires, else its only id. */
function positionalField(fields: readonly Field[]): Field | undefined {
  const ids = fields.filter(({ name }) => name.endsWith('_id'))
  return ids.find(({ required }) => required) ?? (ids.length === 1 ? ids[0] : undefined)
}

function optionOf(
  { name, kind, notes }: Field,
  take: (text: string) => string,
  fields: readonly Field[],
): Option {
  const isFlag = kind === 'true|false'
  const members = fields
    .filter((field) => field.name.startsWith(`${name}.`))
    .map((field) => field.name)
  const option = new Option(`--${name} ${isFlag ? `[${kind}]` : `<${kind}>`}`, notes.join('; '))
  return (isFlag ? option.preset('true') : option).conflicts(members).argParser(take)
}

/** JSON has the same rules as fields: numbers in plain digits, no field twice. */
function payloadFrom(text: string, before: unknown): Payload {
  const read = readJson(Buffer.from(once(text, before)))
  if (!read.ok) throw new InvalidArgumentError(`${read.reason}.`)
  const value = inDigits(read.value)
  if (!isJsonObject(value)) throw new InvalidArgumentError('It must be a JSON object.')
  return value
}

function inDigits(value: unknown): unknown {
  if (isLosslessNumber(value)) return numberFrom(value.value)
  if (Array.isArray(value)) return value.map(inDigits)
  const entries = isJsonObject(value) ? Object.entries(value) : undefined
  return entries
    ? Object.fromEntries(entries.map(([name, inner]) => [name, inDigits(inner)]))
    : value
}
