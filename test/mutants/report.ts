import { markdownTable } from '../support/markdown-table.ts'
import { LAYERS, layerOf } from './checks.ts'
import type { Mutant } from './generate-mutants.ts'
import { AREAS } from './guarded-code.ts'

/** What the checks say of a mutant. */
export type Finding = {
  readonly mutant: Mutant
  readonly ms: number
  /** The first test file that failed, and what of it. */
  readonly killer?: { readonly check: string; readonly failed: string }
  /** It cannot be loaded: its change is no program, which says nothing of the tests. */
  readonly invalid?: string
}

export const survived = ({ invalid, killer }: Finding): boolean => invalid === undefined && killer === undefined

const cellsOf = (some: readonly Finding[]) => [
  some.length,
  ...LAYERS.map((layer) => some.filter(({ killer }) => killer && layerOf(killer.check) === layer).length),
  some.filter(survived).length,
  some.filter(({ invalid }) => invalid !== undefined).length,
]

export const reportOf = (findings: readonly Finding[]): string => {
  const rows = AREAS.map((area) => [area, ...cellsOf(findings.filter(({ mutant }) => mutant.area === area))])
  return markdownTable(
    ['Guards', 'mutants', ...LAYERS, 'survived', 'invalid'],
    [...rows, ['all', ...cellsOf(findings)]],
  )
}
