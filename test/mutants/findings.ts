import { createHash } from 'node:crypto'
import { appendFileSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readIfPresent } from '../../infra/local/process/json-file.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { type Check, HISTORIES } from './checks.ts'
import type { Mutant } from './generate-mutants.ts'

export type Verdict = {
  /** The first test file that failed, and what of it. */
  readonly killer?: { readonly check: string; readonly failed: string } | undefined
  /** It cannot be loaded: its change is no program, which says nothing of the tests. */
  readonly invalid?: string | undefined
}

/** What is known of a mutant, and until which change of the tree. */
export type Finding = Verdict & { readonly id: string; readonly ms: number }

const FOLDER = join(PROJECT_ROOT, '.mutants')
const FINDINGS = join(FOLDER, 'findings.jsonl')
const CHECKS = join(FOLDER, 'checks.jsonl')

const hashOf = (...texts: readonly string[]) => createHash('sha256').update(texts.join('\n')).digest('hex')

const read = (path: string) => readIfPresent(join(PROJECT_ROOT, path)) ?? ''

/** Product and tests, but for this folder: a reason that is written down changes no finding. */
const treeKey = (): string => {
  const files = globSync('{shared,functions,infra,test}/**/*.ts', { cwd: PROJECT_ROOT }).toSorted()
  return hashOf(...files.filter((file) => !file.startsWith('test/mutants/')).flatMap((file) => [file, read(file)]))
}

/** What is known still: a kill while the broken file and the test are unchanged, anything else while the tree is. */
export const openFindings = () => {
  mkdirSync(FOLDER, { recursive: true })
  const tree = treeKey()
  const keyOf = ({ path }: Mutant, { killer }: Verdict): string =>
    killer && killer.check !== HISTORIES ? hashOf(read(path), read(killer.check)) : tree
  return {
    known: (mutants: readonly Mutant[]): ReadonlyMap<string, Finding> => {
      const byId = new Map(mutants.map((mutant) => [mutant.id, mutant]))
      const lines = (readIfPresent(FINDINGS) ?? '').split('\n').filter((line) => line.endsWith('}'))
      const found = lines.map((line) => JSON.parse(line) as Finding & { readonly key: string })
      return new Map(
        found.flatMap(({ key, ...finding }) => {
          const mutant = byId.get(finding.id)
          return mutant && keyOf(mutant, finding) === key ? [[finding.id, finding]] : []
        }),
      )
    },
    add: (mutant: Mutant, finding: Finding): void => {
      appendFileSync(FINDINGS, `${JSON.stringify({ ...finding, key: keyOf(mutant, finding) })}\n`)
    },
    checks: async (record: () => Promise<readonly Check[]>): Promise<readonly Check[]> => {
      const kept = JSON.parse(readIfPresent(CHECKS) ?? '{}') as {
        readonly key?: string
        readonly checks: readonly Check[]
      }
      if (kept.key === tree) return kept.checks
      const checks = await record()
      writeFileSync(CHECKS, JSON.stringify({ key: tree, checks }))
      return checks
    },
  }
}
