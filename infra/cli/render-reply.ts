import { alignedRows, textTable } from './text-table.ts'

type JsonObject = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isListOfObjects = (value: unknown): value is readonly JsonObject[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject)

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.length === 0) return 'none'
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ')
  return JSON.stringify(value)
}

/** Plain values by their dotted names; lists of objects and texts of several lines are shown on their own. */
const flattened = (object: JsonObject, prefix = ''): readonly (readonly [string, unknown])[] =>
  Object.entries(object).flatMap(([name, value]) =>
    isObject(value) ? flattened(value, `${prefix}${name}.`) : [[`${prefix}${name}`, value] as const],
  )

const isBlock = (value: unknown): boolean =>
  isListOfObjects(value) || (typeof value === 'string' && value.includes('\n'))

/** One row per object. A column that says nothing in any row is left out; a list inside a row is only counted. */
const tableOf = (objects: readonly JsonObject[]): string => {
  const rows = objects.map((object) => new Map(flattened(object)))
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const columns = names.filter((name) => rows.some((row) => row.get(name) !== null && row.get(name) !== undefined))
  const cellOf = (value: unknown) => (isListOfObjects(value) ? `${value.length} items` : textOf(value))
  return textTable(
    columns,
    rows.map((row) => columns.map((name) => (row.get(name) === null ? '' : cellOf(row.get(name) ?? '')))),
  )
}

const objectText = (object: JsonObject): string => {
  const values = flattened(object)
  const plain = values.filter(([, value]) => !isBlock(value))
  const blocks = values.filter(([, value]) => isBlock(value))
  return [
    ...(plain.length > 0
      ? [
          alignedRows(
            plain.map(([name, value]) => [name, textOf(value)]),
            '',
          ),
        ]
      : []),
    ...blocks.map(([name, value]) => `${name}\n${isListOfObjects(value) ? tableOf(value) : textOf(value).trimEnd()}`),
  ].join('\n\n')
}

/** An answer for people: a list as a table with its page below, anything else name by name. */
export const renderReply = (body: unknown): string => {
  if (!isObject(body)) return textOf(body)
  const { data, pagination, ...rest } = body
  if (!Array.isArray(data) || !isObject(pagination)) return objectText(body)
  const page = alignedRows([[`page ${textOf(pagination['page'])}, ${textOf(pagination['per_page'])} per page`]], '')
  const table = isListOfObjects(data) ? tableOf(data) : 'none'
  return [table, ...(Object.keys(rest).length > 0 ? [objectText(rest)] : []), page].join('\n\n')
}

/** A refusal for people: what, where, and what to do about it. */
export const renderRefusal = (action: string, status: number, body: unknown): string => {
  if (!isObject(body)) return `${action} was refused (${status})`
  const { message, code, field_errors: fields, action_hint: hint } = body
  const rows = isObject(fields) ? Object.entries(fields).map(([name, reasons]) => [`${name}:`, textOf(reasons)]) : []
  return [
    `${action} was refused (${status} ${textOf(code)}): ${textOf(message)}`,
    ...(rows.length > 0 ? [alignedRows(rows)] : []),
    ...(hint === undefined ? [] : [`Hint: ${textOf(hint)}`]),
  ].join('\n')
}
