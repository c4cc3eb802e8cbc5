import { markdownTable } from '../support/markdown-table.ts'
import { LAYERS, layerOf } from './checks.ts'
import type { Finding } from './findings.ts'
import type { Mutant } from './generate-mutants.ts'
import { AREAS } from './guarded-code.ts'

export type Asked = { readonly mutant: Mutant; readonly finding: Finding }

export const survived = ({ finding }: Asked): boolean => finding.invalid === undefined && finding.killer === undefined

const times = (some: readonly Asked[], is: (finding: Finding) => unknown) =>
  some.filter(({ finding }) => is(finding)).length

const cellsOf = (some: readonly Asked[]) => [
  some.length,
  ...LAYERS.map((layer) => times(some, ({ killer }) => killer && layerOf(killer.check) === layer)),
  some.filter(survived).length,
  times(some, ({ invalid }) => invalid !== undefined),
]

export const reportOf = (asked: readonly Asked[]): string => {
  const rows = AREAS.map((area) => [area, ...cellsOf(asked.filter(({ mutant }) => mutant.area === area))])
  return markdownTable(['Guards', 'mutants', ...LAYERS, 'survived', 'invalid'], [...rows, ['all', ...cellsOf(asked)]])
}
