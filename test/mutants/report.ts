import { markdownTable } from '../support/markdown-table.ts'
import { killerOf, type Verdict } from './ask-mutant.ts'
import { LAYERS, type Layer } from './checks.ts'
import type { Finding } from './findings.ts'
import type { Mutant } from './generate-mutants.ts'
import { AREAS } from './guarded-code.ts'

export type Asked = { readonly mutant: Mutant; readonly finding: Finding }

export const survived = ({ finding }: Asked): boolean =>
  finding.invalid === undefined && killerOf(finding) === undefined

const times = (some: readonly Asked[], is: (finding: Finding) => boolean) =>
  some.filter(({ finding }) => is(finding)).length

const cellsOf = (some: readonly Asked[]) => [
  some.length,
  ...LAYERS.map((layer) => times(some, (finding) => killerOf(finding) === layer)),
  some.filter(survived).length,
  times(some, ({ invalid }) => invalid !== undefined),
]

/** Which layer kills first, by what the broken code guards. */
export const reportOf = (asked: readonly Asked[]): string => {
  const rows = AREAS.map((area) => [area, ...cellsOf(asked.filter(({ mutant }) => mutant.area === area))])
  return markdownTable(['Guards', 'mutants', ...LAYERS, 'survived', 'invalid'], [...rows, ['all', ...cellsOf(asked)]])
}

const answered = ({ layers }: Verdict, layer: Layer) => layers[layer] !== undefined

/** What each layer kills when all are asked, and what only that layer kills. */
export const everyLayerOf = (asked: readonly Asked[]): string => {
  const whole = asked.filter(({ finding }) => LAYERS.every((layer) => answered(finding, layer)))
  const alone = (layer: Layer) =>
    times(whole, ({ layers }) => Boolean(layers[layer]) && LAYERS.every((other) => other === layer || !layers[other]))
  return markdownTable(
    ['Layer', 'asked', 'kills', 'kills alone'],
    LAYERS.map((layer) => [layer, whole.length, times(whole, ({ layers }) => Boolean(layers[layer])), alone(layer)]),
  )
}
