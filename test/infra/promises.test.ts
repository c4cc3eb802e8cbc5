import { describe, expect, it } from 'vitest'
import { hasTest, projectText } from '../support/source-file.ts'
import PAGES from './promises.json' with { type: 'json' }

/*
 * Goal: README, docs/merchants.md and docs/reports.md promise nothing that no test shows. Method:
 * promises.json has every sentence and row of these pages: with the test that shows it, or as
 * plain, if it promises nothing. A new or changed sentence fails here until it stands there.
 * Commands in blocks have tests of their own.
 */

/** A row of a table counts as a sentence. Headings, pictures and blocks are left out. */
function sentencesOf(text: string) {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/^!\[.*$/gm, '')
  return prose.split('\n').flatMap((line) => {
    if (/^(?:#|\|[-|]+\|$|\s*$)/.test(line)) return []
    if (line.startsWith('|')) return [line]
    return line.replace(/^- /, '').split(/(?<=[^\d]\.\)?) (?=[A-Z`*[])/)
  })
}

describe.for(PAGES)('$page', ({ page, promises, plain }) => {
  it('has every sentence in the table: add a new one to test/infra/promises.json, with its test', () => {
    const known = [...promises.map(({ sentence }) => sentence), ...plain]

    expect([...sentencesOf(projectText(page))].toSorted()).toStrictEqual(known.toSorted())
  })

  it('promises only what a test of that name shows', () => {
    const unproven = promises.filter(({ file, test }) => !hasTest(file, test))

    expect(promises.length).toBeGreaterThan(40)
    expect(unproven).toStrictEqual([])
  })
})
