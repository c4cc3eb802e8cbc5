import { printable } from '../../local/terminal/printable.ts'

const INDENT = '  '
const GAP = '  '

/** Rows with their columns under one another; the last one is not padded. */
export const alignedRows = (given: readonly (readonly string[])[], indent = INDENT): string => {
  const rows = given.map((row) => row.map(printable))
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  }
  return rows
    .map((row) => `${indent}${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(GAP)}`.trimEnd())
    .join('\n')
}

/** A table with a heading, columns of numbers to the right. */
export const textTable = (names: readonly string[], given: readonly (readonly string[])[]): string => {
  const columns = names.map(printable)
  const rows = given.map((row) => row.map(printable))
  const isNumeric = columns.map((_, at) => rows.every((row) => /^(-?\d[\d,]*)?$/.test(row[at] ?? '')))
  const widths = columns.map((column, at) => Math.max(column.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (isNumeric[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join(GAP)
      .trimEnd()
  return [line(columns), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
