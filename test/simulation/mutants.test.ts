/** Goal: `npm run mutants` takes minutes and runs now and then; that its list still fits the code is held here. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FLOWS } from './flows.ts'
import { MUTANTS } from './mutants.ts'
import { applyTo } from './mutation/mutant.ts'

const PROJECT_ROOT = join(import.meta.dirname, '../..')

describe('the mutants', () => {
  it.each(MUTANTS)('"$name" changes $file in one place', (mutant) => {
    const text = readFileSync(join(PROJECT_ROOT, mutant.file), 'utf8')

    expect(applyTo(text, mutant)).not.toBe(text)
  })

  it('have names of their own, and tests and flows that exist', () => {
    const flows = FLOWS.map(({ name }) => name)
    const files = [...new Set(MUTANTS.flatMap((mutant) => mutant.tests ?? []))]

    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
    expect(files.filter((test) => !existsSync(join(PROJECT_ROOT, `test/${test}.test.ts`)))).toStrictEqual([])
    expect(MUTANTS.flatMap(({ crashes = [] }) => crashes.filter((name) => !flows.includes(name)))).toStrictEqual([])
    expect(
      MUTANTS.filter(({ tests = [], histories, crashes = [] }) => !histories && tests.length + crashes.length === 0),
    ).toStrictEqual([])
  })
})
