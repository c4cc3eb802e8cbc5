import { sourcesIn } from '../../support/source-file.ts'
import type { Mutant } from './mutant.ts'
import { placeMutant } from './place-mutant.ts'
import { copyProject, type ProjectCopy } from './project-copy.ts'
import { type Checks, runChecks, type Verdict } from './run-checks.ts'

export type Finding = {
  readonly mutant: Mutant
  readonly path: string
  readonly verdict: Verdict
  readonly ms: number
}

export type CheckOptions = {
  /** How many at once, each in a copy of its own. */
  readonly jobs: number
  /** How many seeds of random histories a mutant meets, where it meets any. */
  readonly seeds: number
  /** Begins no further mutant once aborted; what runs has to be ended by whoever aborts. */
  readonly signal: AbortSignal
  readonly onFinding: (finding: Finding) => void
}

/** Far above what the checks of one mutant take on a busy machine, and those of all together. */
const MUTANT_BOUND_MS = 240_000
const BASELINE_BOUND_MS = 1_800_000

/** Far above what a history takes. */
const HISTORY_BOUND_MS = 15_000

const checksOf = (mutants: readonly Mutant[], seeds: number, leastMs: number): Checks => ({
  boundMs: Math.max(leastMs, seeds * HISTORY_BOUND_MS),
  tests: [...new Set(mutants.flatMap(({ tests = [] }) => tests))],
  seeds: mutants.some(({ histories }) => histories === true) ? seeds : 0,
  crashes: [...new Set(mutants.flatMap(({ crashes = [] }) => crashes))],
})

/** Whoever is said to go unnoticed meets a few: enough to show that it does. */
const UNSEEN_SEEDS = 10

/** Throws unless everything holds on the tree as it is: a test that fails anyway would kill every mutant. */
const assertAllHolds = async ({ directory }: ProjectCopy, mutants: readonly Mutant[], seeds: number): Promise<void> => {
  const verdict = await runChecks(directory, checksOf(mutants, seeds, BASELINE_BOUND_MS))
  if (verdict.kind === 'failed') throw new Error(`without any mutant this fails: ${verdict.by}`)
  if (verdict.kind === 'broken') throw new Error(`without any mutant the tests do not run:\n${verdict.why}`)
}

/** What could not run at all is run once more: on a busy machine a port or a process can get lost. */
const runTwiceIfBroken = async (directory: string, checks: Checks, { aborted }: AbortSignal): Promise<Verdict> => {
  const verdict = await runChecks(directory, checks)
  return verdict.kind === 'broken' && !aborted ? runChecks(directory, checks) : verdict
}

/**
 * Runs the checks of each mutant on a copy of the project with that mutant alone in it. Every mutant is placed first,
 * so that a list gone stale is found in a second; then everything has to hold without one.
 */
export const checkMutants = async (
  mutants: readonly Mutant[],
  { jobs, seeds, signal, onFinding }: CheckOptions,
): Promise<readonly Finding[]> => {
  const sources = sourcesIn('shared', 'functions', 'infra')
  const waiting = mutants.map((mutant) => ({ mutant, placed: placeMutant(sources, mutant) }))
  const copies = Array.from({ length: jobs }, copyProject)
  try {
    for (const copy of copies.slice(0, 1)) await assertAllHolds(copy, mutants, seeds)
    const findings: Finding[] = []
    const work = async (copy: ProjectCopy) => {
      for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
        const { mutant, placed } = next
        const startedMs = performance.now()
        const own = mutant.unseen === undefined ? seeds : Math.min(seeds, UNSEEN_SEEDS)
        const checks = checksOf([mutant], own, MUTANT_BOUND_MS)
        const verdict = await copy.withMutant(placed, () => runTwiceIfBroken(copy.directory, checks, signal))
        const finding = { mutant, path: placed.path, verdict, ms: performance.now() - startedMs }
        findings.push(finding)
        onFinding(finding)
      }
    }
    await Promise.all(copies.map(work))
    return findings
  } finally {
    for (const copy of copies) copy.remove()
  }
}
