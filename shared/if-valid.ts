import * as v from 'valibot'
import type { Log } from './log.ts'

export function ifValid<const Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> | undefined {
  // Otherwise a check would also get invalid parts, and could throw.
  const parsed = v.safeParse(schema, value, { abortEarly: true })
  return parsed.success ? parsed.output : undefined
}

type Item = Readonly<Record<string, unknown>>

type ReadRows<Row> = { readonly rows: readonly Row[]; readonly unreadableIds: readonly string[] }

/** Without absent rows. A row that a person or a later release changed hides no other row. */
export function readRows<const Schema extends v.GenericSchema>(
  schema: Schema,
  items: readonly (Item | undefined)[],
  idOf = ({ id }: Item): unknown => id,
): ReadRows<v.InferOutput<Schema>> {
  const read = items.flatMap((item) => (item ? [{ item, row: ifValid(schema, item) }] : []))
  return {
    rows: read.flatMap(({ row }) => (row === undefined ? [] : [row])),
    unreadableIds: read.flatMap(({ item, row }) => (row === undefined ? String(idOf(item)) : [])),
  }
}

/** Where the caller cannot act on an unreadable row, the log names the row. */
export function readableRows<Row>(
  { log }: { readonly log: Log },
  kind: string,
  { rows, unreadableIds }: ReadRows<Row>,
): readonly Row[] {
  for (const id of unreadableIds) log.error('row.unreadable', { kind, id })
  return rows
}
