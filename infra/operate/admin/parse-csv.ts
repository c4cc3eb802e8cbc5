/** A cell with or without quotes, and the separator after it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y

/**
 * The rows of a CSV file (RFC 4180) with commas, without empty lines. Undefined if a quote is
 * misplaced.
 */
export function parseCsv(text: string): readonly (readonly string[])[] | undefined {
  const source = text.replace(/^\uFEFF/, '')
  const rows: string[][] = []
  let row: string[] = []
  CELL.lastIndex = 0
  while (CELL.lastIndex < source.length) {
    const cell = CELL.exec(source)
    if (cell === null) return undefined
    const [, quoted, plain = '', end] = cell
    row.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'))
    if (end === ',' && CELL.lastIndex < source.length) continue
    if (end === ',') row.push('')
    if (row.some((value) => value !== '')) rows.push(row)
    row = []
  }
  return rows
}
