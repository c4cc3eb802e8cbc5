import { type Command, InvalidArgumentError, Option } from 'commander'
import { isJsonObject, isLosslessNumber, readJson } from '../../../shared/json.ts'
import { wholeNumber } from '../../local/terminal/command-line.ts'
import type { ActionDescription } from './listed-actions.ts'
import type { Field } from './schema-fields.ts'

export type Payload = Readonly<Record<string, unknown>>

export type ActionCall = {
  readonly stage: string
  readonly json: boolean
  /** Repeats the action until nothing is left. */
  readonly all?: boolean
  readonly payload: Payload
  /** A file with lines for the calls. The payload has the fields that all calls share. */
  readonly file?: string
  /** The folder for the files of an answer. */
  readonly out?: string
}

export const LOCAL_STAGE = 'local'

const NUMBER_FORM = `a whole number of at most ${Number.MAX_SAFE_INTEGER}, in digits alone: 10000, not 10.000 or 1e4.`

/**
 * Converts text to the field's type. Any other wrong value is passed on, and the action reports it.
 */
export function valueFrom({ kind, nullable }: Field, text: string): unknown {
  const items = kind === 'list' ? text.split(',').map((item) => item.trim()) : [text]
  if (nullable && text === 'null') return null
  if (items.includes('null')) throw new InvalidArgumentError('It cannot be null.')
  if (kind === 'list') return items
  if (kind === 'whole number') return numberFrom(text)
  if (kind === 'json') return payloadFrom(text, undefined)
  if (kind !== 'true|false') return text
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('It is true or false.')
  return text === 'true'
}

function numberFrom(text: string) {
  const value = wholeNumber(text)
  if (value === undefined) throw new InvalidArgumentError(`${text} is not ${NUMBER_FORM}`)
  return value
}

/** `bank.bank_name` is a member of `bank`. */
export function putMember(
  tree: Payload,
  [name = '', ...innerNames]: readonly string[],
  value: unknown,
): Payload {
  const inner = tree[name]
  return {
    ...tree,
    [name]:
      innerNames.length === 0
        ? value
        : putMember(isJsonObject(inner) ? inner : {}, innerNames, value),
  }
}

/**
 * Makes a command of an action from its schema: the fields become options, and the id needs no
 * name. `operator` is the default for an action that requires an operator.
 */
export function defineAction(
  command: Command,
  {
    summary,
    fields: input,
    rules = [],
    takesFile,
    writesFile,
    isPaged,
    hasDryRun,
  }: ActionDescription,
  operator: string | undefined,
  run: (call: ActionCall) => Promise<void> | void,
) {
  const fields = input ?? []
  const values = new Map<string, unknown>()
  const parserOf = (field: Field) => (text: string) => {
    const previous = values.get(field.name)
    const value = valueFrom(
      field,
      singleValue(text, Array.isArray(previous) ? undefined : previous),
    )
    values.set(
      field.name,
      Array.isArray(previous) && Array.isArray(value) ? [...previous, ...value] : value,
    )
    return text
  }
  command.summary(/^.*?\.(?=\s|$)/.exec(summary)?.[0] ?? summary).description(summary)
  const id = positionalField(fields)
  if (id) command.argument(`[${id.name}]`, '', parserOf(id))
  command.optionsGroup('Fields:')
  for (const field of fields) command.addOption(optionOf(field, parserOf(field), fields))
  command
    .optionsGroup('Options:')
    .option(
      '--stage <name>',
      'local (the default) is this machine; any other is on AWS, with your credentials',
      singleValue,
    )
    .option('--json', 'prints the answer as JSON, with all fields')
  // A field of this name has the figures of another action.
  const hasOwnPayload = fields.some(({ name }) => name === 'payload')
  if (input && !hasOwnPayload)
    command.option('--payload <json>', 'the whole input as JSON, instead of fields', payloadFrom)
  if (takesFile)
    command.option(
      '--file <file>',
      takesFile === 'lines'
        ? 'a CSV file: each line is one call, each column one field'
        : "the bank's answer: our file filled in, or the provider's report, as xlsx or CSV",
      singleValue,
    )
  if (writesFile)
    command.option('--out <folder>', 'where the files are written, here by default', singleValue)
  if (isPaged) command.option('--all', 'repeats until nothing is left, and prints the sums')
  if (hasDryRun)
    command.option('--dry-run', 'answers what the action would do now, and changes nothing')
  const together = rules.map((rule) => `\nTogether: ${rule}.`).join('')
  command.addHelpText('after', together).action(() => {
    const {
      stage = LOCAL_STAGE,
      json = false,
      all = false,
      payload: wholePayload,
      file,
      out,
      dryRun = false,
    } = command.opts<Partial<ActionCall> & { readonly dryRun?: boolean }>()
    const payload = hasOwnPayload ? undefined : wholePayload
    if (payload && values.size > 0)
      return command.error('error: give --payload or fields, not both')
    if (file !== undefined && (payload || [...values.keys()].some((name) => name !== 'operator'))) {
      return command.error('error: give --file or fields, not both')
    }
    const needsOperator = fields.some(({ name }) => name === 'operator') && !values.has('operator')
    if (operator && needsOperator) values.set('operator', operator)
    const fromFields = [...values].reduce<Payload>(
      (tree, [name, value]) => putMember(tree, name.split('.'), value),
      {},
    )
    return run({
      stage,
      json,
      all,
      payload: { ...(payload ?? fromFields), ...(dryRun && { dry_run: true }) },
      file,
      out,
    })
  })
}

/** If another option follows, the operator forgot the value. */
function singleValue(text: string, previous?: unknown) {
  if (text === '' || text.startsWith('--')) throw new InvalidArgumentError('It needs a value.')
  if (previous !== undefined) throw new InvalidArgumentError('It is given twice.')
  return text
}

/** The first id that the action requires, else its only id. */
function positionalField(fields: readonly Field[]) {
  const ids = fields.filter(({ name }) => name.endsWith('_id'))
  return ids.find(({ required }) => required) ?? (ids.length === 1 ? ids[0] : undefined)
}

function optionOf(
  { name, kind, notes }: Field,
  parse: (text: string) => string,
  fields: readonly Field[],
) {
  const isFlag = kind === 'true|false'
  const members = fields
    .filter((field) => field.name.startsWith(`${name}.`))
    .map((field) => field.name)
  const option = new Option(`--${name} ${isFlag ? `[${kind}]` : `<${kind}>`}`, notes.join('; '))
  return (isFlag ? option.preset('true') : option).conflicts(members).argParser(parse)
}

/** JSON has the same rules as fields: numbers in plain digits, no field twice. */
function payloadFrom(text: string, previous: unknown) {
  const json = readJson(Buffer.from(singleValue(text, previous)))
  if (!json.ok) throw new InvalidArgumentError(`${json.reason}.`)
  const value = numbersInDigits(json.value)
  if (!isJsonObject(value)) throw new InvalidArgumentError('It must be a JSON object.')
  return value
}

function numbersInDigits(value: unknown): unknown {
  if (isLosslessNumber(value)) return numberFrom(value.value)
  if (Array.isArray(value)) return value.map(numbersInDigits)
  const entries = isJsonObject(value) ? Object.entries(value) : undefined
  return entries
    ? Object.fromEntries(entries.map(([name, inner]) => [name, numbersInDigits(inner)]))
    : value
}
