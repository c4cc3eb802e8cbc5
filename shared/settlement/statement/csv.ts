type Cell = string | number | null | undefined

/** RFC 4180, below the names of the columns unless the rows continue an earlier page. */
export function csv<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Partial<Record<Column, Cell>>>[],
  isContinued = false,
) {
  const lines = rows.map((row) => columns.map((column) => cellOf(row[column])))
  return [...(isContinued ? [] : [columns]), ...lines]
    .map((cells) => `${cells.join(',')}\n`)
    .join('')
}

/**
 * Text is always quoted, so that it stays text. Numbers are no formulas, whatever their sign. A
 * null is an empty cell.
 */
function cellOf(value: Cell) {
  if (value === undefined || value === null || value === '') return ''
  if (typeof value === 'number') return String(value)
  // A spreadsheet would run such text as a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return `"${text.replaceAll('"', '""')}"`
}
