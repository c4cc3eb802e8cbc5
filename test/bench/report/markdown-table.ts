const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

export const markdownTable = (heading: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(heading), row(heading.map(() => '---')), ...rows.map(row)].join('\n')
