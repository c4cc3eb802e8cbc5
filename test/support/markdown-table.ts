type Cells = readonly (string | number)[]

export function markdownTable(heading: readonly string[], rows: readonly Cells[]) {
  return [row(heading), row(heading.map(() => '---')), ...rows.map(row)].join('\n')
}

function row(cells: Cells) {
  return `| ${cells.join(' | ')} |`
}
