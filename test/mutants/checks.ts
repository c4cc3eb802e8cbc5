import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readIfPresent } from '../../infra/local/process/json-file.ts'
import { PROJECT_ROOT, type SourceFile } from '../support/source-file.ts'
import { type CheckResult, openAsker } from './asking.ts'
import type { Mutant } from './generate-mutants.ts'

export const LAYERS = ['unit', 'functions', 'integration', 'histories'] as const

export type Check = Pick<CheckResult, 'name' | 'ms' | 'hits'>

export function layerOf(name: string) {
  return LAYERS.find((layer) => name.startsWith(`test/${layer}/`)) ?? 'histories'
}

const FOLDER = join(PROJECT_ROOT, '.mutants')
const FILE = join(FOLDER, 'checks.json')

export async function knownChecks() {
  const files = globSync('{shared,functions,infra,test}/**/*.ts', { cwd: PROJECT_ROOT }).toSorted()
  const hash = createHash('sha256')
  for (const file of files) hash.update(file).update(readFileSync(join(PROJECT_ROOT, file)))
  const tree = hash.digest('hex')
  const kept = JSON.parse(readIfPresent(FILE) ?? '{}') as {
    readonly tree?: string
    readonly checks: readonly Check[]
  }
  if (kept.tree === tree) return kept.checks
  const checks = await recordChecks()
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(FILE, JSON.stringify({ tree, checks }))
  return checks
}

const HISTORIES = 'test/mutants/histories.ts'

/** A check that fails on the unchanged tree would kill every mutant: it is left out, and named. */
async function recordChecks() {
  const files = globSync('test/{unit,functions,integration}/**/*.test.ts', {
    cwd: PROJECT_ROOT,
  }).toSorted()
  const asker = openAsker('--record')
  const results = await asker.ask({ checks: [...files, HISTORIES] }, () => 300_000)
  asker.end()
  const held = results.filter(({ failed, unloaded }) => (failed ?? unloaded) === undefined)
  for (const { name } of results.filter((result) => !held.includes(result))) {
    console.log(`not asked, since it fails without any mutant: ${name}`)
  }
  return held.map(({ name, ms, hits }) => ({ name, ms, hits }))
}

/**
 * Which checks execute a mutant's declaration. First come those that noticed another mutant of its
 * file, then short ones that execute little else, and last the histories. A process loads a file
 * once, so only one check records what runs while it is loaded. Such code, and code outside
 * functions, is reached by every check that executes anything of its file, or else of a file that
 * imports it. A check that counts executions itself records nothing, so every mutant meets that
 * check.
 */
export function checksReaching(
  checks: readonly Check[],
  sources: readonly SourceFile[],
  noticing: (path: string) => ReadonlySet<string>,
) {
  const byFunction = groupChecks(checks, ({ hits }) => hits)
  const byFile = groupChecks(checks, ({ hits }) => hits.map((hit) => hit.replace(/#.*/, '')))
  const ofFile = (path: string, seen: readonly string[] = []): readonly Check[] => {
    const known = byFile.get(path)
    if (known || seen.includes(path)) return known ?? []
    const importers = sources.filter(({ imports }) =>
      imports.some((used) => used.path === path && !used.typeOnly),
    )
    return [...new Set(importers.flatMap((importer) => ofFile(importer.path, [...seen, path])))]
  }
  const unrecorded = checks.filter(({ hits }) => hits.length === 0)
  const price = ({ ms, hits }: Check) => ms * hits.length
  return ({ path, declaration }: Pick<Mutant, 'path' | 'declaration'>): readonly Check[] => {
    const first = noticing(path)
    const turn = ({ name, hits }: Check) => {
      if (name === HISTORIES) return 3
      if (hits.length === 0) return 2
      return first.has(name) ? 0 : 1
    }
    const executing = byFunction.get(`${path}#${declaration}`) ?? []
    const recorded = executing.length > 1 ? executing : ofFile(path)
    return [...recorded, ...unrecorded].toSorted((a, b) => turn(a) - turn(b) || price(a) - price(b))
  }
}

function groupChecks(checks: readonly Check[], keysOf: (check: Check) => readonly string[]) {
  const groups = new Map<string, Check[]>()
  for (const check of checks) {
    for (const key of new Set(keysOf(check))) groups.set(key, [...(groups.get(key) ?? []), check])
  }
  return groups
}
