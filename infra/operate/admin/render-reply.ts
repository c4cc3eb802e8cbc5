import { printableLine } from '../../local/terminal/printable.ts'
import { LOCAL_STAGE } from './action-command.ts'
import type { Reply } from './invoke-action.ts'
import { LISTED_ACTIONS } from './listed-actions.ts'
import { TABLE_COLUMNS } from './table-columns.ts'

type JsonObject = Readonly<Record<string, unknown>>
type Columns = Readonly<Record<string, readonly string[]>>

/** A list becomes a table with its page, any other answer names and values. */
export function renderReply(action: string, body: unknown) {
  if (!isObject(body)) return textOf(body)
  const columns = TABLE_COLUMNS[action] ?? {}
  const { data, pagination, ...others } = body
  if (!Array.isArray(data) || !isObject(pagination)) return objectText(body, columns)
  const rows = isListOfObjects(data) ? data : []
  const { unreadable_ids: ids } = others
  const count = rows.length + (Array.isArray(ids) ? ids.length : 0)
  const page = printableLine([pageText(pagination, count), ...totalsOf(rows)].join('; '))
  const table = rows.length > 0 ? tableOf(rows, columns['data']) : 'none'
  return [
    table,
    ...(Object.keys(others).length > 0 ? [objectText(others, columns)] : []),
    page,
  ].join('\n\n')
}

/** A full page may have rows after it. Rows that cannot be read count. */
function pageText({ page, per_page: most }: JsonObject, count: number) {
  const more = count >= Number(most) && typeof page === 'number' ? `; more: --page ${page + 1}` : ''
  return `page ${textOf(page)}, ${textOf(most)} per page${more}`
}

function totalsOf(rows: readonly JsonObject[]) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const sums = names
    .filter((name) => name.endsWith('_minor'))
    .map((name) => {
      const amounts = rows.map((row) => row[name]).filter((amount) => typeof amount === 'number')
      return `${name} ${amounts.reduce((sum, amount) => sum + amount, 0)}`
    })
  return rows.length < 2 ? [] : [[`${rows.length} rows`, ...sums].join(', ')]
}

function isObject(value: unknown): value is JsonObject {
  return isContainer(value) && !Array.isArray(value)
}

/** A number that keeps its digits (`JSON.rawJSON`) is an object in JavaScript. */
function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !JSON.isRawJSON(value)
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'string') return value
  if (!Array.isArray(value) || value.some((item) => item === null || isContainer(item)))
    return JSON.stringify(value)
  return value.length === 0 ? 'none' : value.map(textOf).join(', ')
}

function objectText(object: JsonObject, columns: Columns) {
  const plain = flattenValues(object).filter(([, value]) => !isListOfObjects(value))
  const rows = plain.map(([name, value]) => [name, textOf(value)])
  return [...(rows.length > 0 ? [alignColumns(rows)] : []), ...blocksOf([object], columns)].join(
    '\n\n',
  )
}

/** Lists stay whole. */
function flattenValues(object: JsonObject, prefix = ''): readonly (readonly [string, unknown])[] {
  return Object.entries(object).flatMap(([name, value]) =>
    isObject(value)
      ? flattenValues(value, `${prefix}${name}.`)
      : [[`${prefix}${name}`, value] as const],
  )
}

function isListOfObjects(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(isObject)
}

/** The names of columns are underlined; then numbers are aligned to the right. */
function alignColumns(cells: readonly (readonly string[])[], names: readonly string[] = []) {
  const rows = cells.map((row) => row.map(printableLine))
  const head = names.map(printableLine)
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)),
  )
  const isNumeric = head.map((_, at) => rows.every((row) => /^(-?\d[\d,]*)?$/.test(row[at] ?? '')))
  const padded = (cell: string, at: number) =>
    isNumeric[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)
  const lines = head.length > 0 ? [head, widths.map((width) => '-'.repeat(width)), ...rows] : rows
  return lines.map((line) => line.map(padded).join('  ').trimEnd()).join('\n')
}

/**
 * A table for each list in the objects, then tables of the lists in its rows, except attempts,
 * which the row counts.
 */
function blocksOf(
  objects: readonly JsonObject[],
  columns: Columns,
  prefix = '',
): readonly string[] {
  const lists = objects
    .flatMap((object) => flattenValues(object, prefix))
    .filter(([name]) => !/\..*attempts$/.test(name))
  return [...Map.groupBy(lists, ([name]) => name)].flatMap(([name, sameName]) => {
    const rows = sameName.flatMap(([, value]) => (isListOfObjects(value) ? value : []))
    return rows.length === 0
      ? []
      : [`${name}\n${tableOf(rows, columns[name])}`, ...blocksOf(rows, columns, `${name}.`)]
  })
}

/** Leaves out columns that are empty in every row or not chosen. */
export function tableOf(objects: readonly JsonObject[], chosen: readonly string[] | undefined) {
  const rows = objects.map(
    (object) =>
      new Map(flattenValues(object).flatMap(([name, value]) => summarizeList(name, value))),
  )
  const names = chosen ?? [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const columns = names.filter((name) =>
    rows.some((row) => row.get(name) !== null && row.get(name) !== undefined),
  )
  const isCount = (name: string) => rows.some((row) => typeof row.get(name) === 'number')
  const cellOf = (name: string, value: unknown) => {
    if (value === null || value === undefined) return ''
    if (Array.isArray(value) && value.length === 0 && isCount(name)) return '0'
    return chosen ? shortenText(name, textOf(value)) : textOf(value)
  }
  const cells = rows.map((row) => columns.map((name) => cellOf(name, row.get(name))))
  return alignColumns(cells, columns)
}

/** The list's length and, for attempts, the result of the last attempt. */
function summarizeList(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (!isListOfObjects(value)) return [[name, value]]
  const { http_status, error } = value.at(-1) ?? {}
  const result = [['last_status', http_status] as const, ['last_error', error] as const]
  return [[name, value.length], ...(name === 'attempts' ? result : [])]
}

const WIDEST_CELL = 40

/**
 * Ids stay whole because operators copy them, prefixes of keys because they differ at their end.
 */
function shortenText(column: string, text: string) {
  return text.length <= WIDEST_CELL || /(^|_)id$|^prefix$/.test(column)
    ? text
    : `${text.slice(0, WIDEST_CELL - 1)}…`
}

/** The reason, the wrong fields, and what to do. */
export function renderRefusal(action: string, stage: string, { status, body }: Reply) {
  if (!isObject(body)) return `${action} was refused (${status})`
  const { message, code, field_errors: fields, action_hint: hint, ...others } = body
  const rows = isObject(fields)
    ? Object.entries(fields).map(([name, reasons]) => [`  ${name}:`, textOf(reasons)])
    : []
  const reason = withCommands(textOf(message), stage)
  return [
    printableLine(`${action} was refused (${status} ${textOf(code)}): ${reason}`),
    ...(rows.length > 0 ? [alignColumns(rows)] : []),
    ...flattenValues(others).map(([name, value]) => printableLine(`  ${name}: ${textOf(value)}`)),
    ...(hint === undefined ? [] : [printableLine(`Hint: ${withCommands(textOf(hint), stage)}`)]),
  ].join('\n')
}

const ACTION = `(?:${LISTED_ACTIONS.map(({ name }) => name).join('|')})`
/** An approval's figures come first: a person typed them, so they are no command. */
const COMMANDS = new RegExp(
  `'\\{[^']*\\}'|(?<![\\w-]|--\\w+ )${ACTION}(?= --[a-z])|(?<=\\bRun )${ACTION}(?=[.:])`,
  'g',
)

/**
 * The domain's texts name a command as the action with its options, or after `Run` as the action
 * alone. A person can paste what is answered.
 */
export function withCommands(text: string, stage: string) {
  return text.replace(COMMANDS, (found) =>
    found.startsWith("'") ? found : commandOf(found, stage),
  )
}

export function commandOf(action: string, stage: string) {
  return `npm run -s admin -- ${action}${stage === LOCAL_STAGE ? '' : ` --stage ${stage}`}`
}
