/** Text that a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/

type Cell = string | number | null | undefined

/** Text is always quoted, so that it stays text. Numbers are no formulas, whatever their sign. A null is an empty cell. */
const cellOf = (value: Cell): string => {
  if (value === undefined || value === null || value === '') return ''
  if (typeof value === 'number') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return `"${text.replaceAll('"', '""')}"`
}

export const csvHead = (columns: readonly string[]): string => `${columns.join(',')}\n`

/** Rows as CSV (RFC 4180), without the columns' names. */
export const csvRows = <Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Partial<Record<Column, Cell>>>[],
): string => rows.map((row) => `${columns.map((column) => cellOf(row[column])).join(',')}\n`).join('')

export const csv = <Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Partial<Record<Column, Cell>>>[],
): string => csvHead(columns) + csvRows(columns, rows)
