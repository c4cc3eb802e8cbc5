type Cells = readonly (string | number)[]

const row = (cells: Cells): string => `| ${cells.join(' | ')} |`

export const markdownTable = (heading: readonly string[], rows: readonly Cells[]): string =>
  [row(heading), row(heading.map(() => '---')), ...rows.map(row)].join('\n')
