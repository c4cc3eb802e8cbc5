import SPEC from './spec/rows.json' with { type: 'json' }
import { anchorOf } from './support/document-blocks.ts'
import { markdownTable } from './support/markdown-table.ts'

type Row = (typeof SPEC.rows)[number]

/** The part of `docs/spec.md`: the rows in the order of the spec. Neighbours may share a holder. */
export function specTable(): string {
  const lines: { section: string; names: string[]; holder: string }[] = []
  for (const row of SPEC.rows) {
    const [holder, last] = [holderOf(row), lines.at(-1)]
    if (last?.section === row.section && last.holder === holder) last.names.push(row.name)
    else lines.push({ section: row.section, names: [row.name], holder })
  }
  const departures = SPEC.rows.filter(({ decision }) => decision !== undefined)
  return [
    `Rows: ${SPEC.rows.length}, of which ${departures.length} are departures.`,
    markdownTable(
      ['Section', 'Rows', 'Held by'],
      lines.map(({ section, names, holder }) => [section, names.join('; '), holder]),
    ),
  ].join('\n\n')
}

function holderOf({ file, test, decision }: Row): string {
  if (decision !== undefined) return `departs: [${decision}](decisions.md#${anchorOf(decision)})`
  return `${file?.split('/').at(-1)?.replace('.test.ts', '')}: ${escaped(test ?? '')}`
}

/** Titles have characters that mean something in Markdown. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_|<[]/g, String.raw`\$&`)
}
