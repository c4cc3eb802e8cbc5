import { describe, expect, it } from 'vitest'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { specTable } from '../spec-table.ts'
import { matchesIn } from '../support/document-blocks.ts'
import { hasTest, projectText } from '../support/source-file.ts'
import SPEC from './rows.json' with { type: 'json' }

/*
 * Goal: each row of the specification has a test that holds it, or a decision that departs from it.
 * Method: rows.json has the rows in words of our own, because the specification is not part of this
 * project. A person has read each named test; this test sees that it is still there.
 */

const HEADINGS = matchesIn(projectText('docs/decisions.md'), /^### (.+)$/gm)

function isHeld({ file, test, decision }: (typeof SPEC.rows)[number]) {
  if (decision !== undefined) return test === undefined && HEADINGS.includes(decision)
  return test !== undefined && hasTest(file, test)
}

describe('the rows of the specification', () => {
  it('have one holder each: a test of that title, or a heading of docs/decisions.md', () => {
    expect(SPEC.rows.filter((row) => !isHeld(row))).toStrictEqual([])
  })

  it('have names that are short, and unique in their section', () => {
    const names = SPEC.rows.map(({ section, name }) => `${section} ${name}`)

    expect(names.filter((name, at) => names.indexOf(name) !== at)).toStrictEqual([])
    expect(names.filter((name) => name.split(' ').length > 15)).toStrictEqual([])
  })

  it('are in the order of the sections, and every section has one', () => {
    expect([...new Set(SPEC.rows.map(({ section }) => section))]).toStrictEqual(SPEC.sections)
    expect(SPEC.rows.length).toBeGreaterThan(200)
  })

  it('are in docs/spec.md; otherwise: npm run spec-rows -- --write', () => {
    const document = projectText('docs/spec.md')

    expect(withWritten(document, 'spec-rows', specTable())).toBe(document)
  })

  it('each stand in their section of docs/spec.md, on a line with their holder', () => {
    const document = projectText('docs/spec.md')
    const missing = SPEC.rows.filter(({ section, name, file, decision }) => {
      const [lines = ''] = matchesIn(document, new RegExp(`^## ${section}\n\n((?:- .*\n)+)`, 'gm'))
      const holder = decision === undefined ? `](../${file}): ` : `departs, [${decision}]`
      return !lines.split('\n').some((line) => line.includes(holder) && line.includes(name))
    })

    expect(missing).toStrictEqual([])
  })
})
