type Separator = ',' | ';' | '\t'

/** The rows of a CSV file (RFC 4180), empty ones too. Undefined if a quote is misplaced. */
export function parseCsv(
  text: string,
  separator: Separator = ',',
): readonly (readonly string[])[] | undefined {
  const source = text.replace(/^\uFEFF/, '')
  const cellAt = new RegExp(
    String.raw`(?:"((?:[^"]|"")*)"|([^"\r\n${separator}]*))(${separator}|\r?\n|\r|$)`,
    'y',
  )
  const rows: string[][] = []
  let row: string[] = []
  while (cellAt.lastIndex < source.length) {
    const cell = cellAt.exec(source)
    if (cell === null) return undefined
    const [, quoted, plain = '', end] = cell
    row.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'))
    if (end === separator && cellAt.lastIndex < source.length) continue
    if (end === separator) row.push('')
    rows.push(row)
    row = []
  }
  return rows
}
