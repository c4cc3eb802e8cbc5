import { printable } from './printable.ts'

/** Rows with their columns under one another. Where those have names, the names are underlined and numbers to the right. */
export const textTable = (names: readonly string[], given: readonly (readonly string[])[]): string => {
  const [head = [], ...rows] = [names, ...given].map((row) => row.map(printable))
  const widths: number[] = []
  for (const row of [head, ...rows]) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  }
  const isNumeric = head.map((_, at) => rows.every((row) => /^(-?\d[\d,]*)?$/.test(row[at] ?? '')))
  const padded = (cell: string, at: number) =>
    isNumeric[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)
  const underline = widths.map((width) => '-'.repeat(width))
  const lines = names.length > 0 ? [head, underline, ...rows] : rows
  return lines.map((cells) => cells.map(padded).join('  ').trimEnd()).join('\n')
}
