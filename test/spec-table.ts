import SPEC from './spec/rows.json' with { type: 'json' }
import { anchorOf } from './support/document-blocks.ts'

type Row = (typeof SPEC.rows)[number]

/**
 * The part of `docs/spec.md`: the rows of each section, under the file of tests or the heading of
 * docs/decisions.md that holds them. With titles each test has a line of its own.
 */
export function specTable(titles = false) {
  const departures = SPEC.rows.filter(({ decision }) => decision !== undefined)
  return [
    `Rows: ${SPEC.rows.length}, of which ${departures.length} are departures.`,
    ...SPEC.sections.map((section) => `## ${section}\n\n${sectionLines(section, titles)}`),
  ].join('\n\n')
}

function sectionLines(section: string, titles: boolean) {
  const rows = SPEC.rows.filter((row) => row.section === section)
  const holders = Map.groupBy(rows, (row) => holderOf(row, titles))
  return [...holders]
    .map(([holder, held]) => `- ${holder}: ${held.map(({ name }) => name).join('; ')}`)
    .join('\n')
}

function holderOf({ file, test, decision }: Row, titles: boolean) {
  if (decision !== undefined) return `departs, [${decision}](decisions.md#${anchorOf(decision)})`
  const name = file?.split('/').at(-1)?.replace('.test.ts', '')
  return `[${name}](../${file})${titles ? `, “${test}”` : ''}`
}
