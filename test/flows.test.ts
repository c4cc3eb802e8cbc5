/**
 * Goal: a reader can follow each flow of "The flows" in docs/changing.md from its first file to its last write. Method:
 * the table's rows are compared with the imports of the files that they name.
 */
import { describe, expect, it } from 'vitest'
import { parseSource, projectText } from './support/source-file.ts'

const [, section = ''] = projectText('docs/changing.md').split('\n## The flows\n')
const FLOWS = [
  ...(section.split('\n## ')[0] ?? '').matchAll(/^\| ([^|]+) \| (`.+`) \| (\d+) \|$/gm),
].map(([, name = '', files = '', lines = '']) => ({
  name,
  files: [...files.matchAll(/`([^`]+)`/g)].map(([, path = '']) =>
    parseSource(path, projectText(path)),
  ),
  lines: Number(lines),
}))

describe('the flows of docs/changing.md', () => {
  it('are in the table', () => {
    expect(FLOWS.length).toBeGreaterThanOrEqual(3)
  })

  it.each(FLOWS)('$name: each file is imported by an earlier one', ({ files }) => {
    const reached = files.map(({ imports }) =>
      imports.flatMap(({ path, typeOnly }) => (typeOnly ? [] : [path])),
    )

    const lost = files.filter(
      ({ path }, at) => at > 0 && !reached.slice(0, at).flat().includes(path),
    )

    expect(lost.map(({ path }) => path)).toStrictEqual([])
  })

  it.each(FLOWS)(
    '$name: is short, and leaves out the table and the runtime',
    ({ files, lines }) => {
      const total = files.reduce((sum, { lineCount }) => sum + lineCount, 0)

      expect(files.length).toBeLessThanOrEqual(12)
      expect(total).toBeLessThanOrEqual(900)
      // A row stays right after small edits.
      expect(Math.abs(total - lines)).toBeLessThanOrEqual(40)
      expect(files.filter(({ path }) => /^shared\/(runtime|table)\//.test(path))).toStrictEqual([])
    },
  )
})
