import type { Asker, CheckResult } from './asking.ts'
import { boundMs, type Check, LAYERS, type Layer, layerOf } from './checks.ts'
import { type Mutant, withMutant } from './generate-mutants.ts'

/** What each layer that was asked says of a mutant: by which test or seed it died there, or nothing. */
export type Verdict = {
  readonly layers: Partial<Record<Layer, { readonly check: string; readonly failed: string } | null>>
  /** It cannot be loaded: its change is no program, which says nothing of the tests. */
  readonly invalid?: string | undefined
}

export type Askers = { readonly tests: Asker; readonly histories: Asker }

export type Question = {
  readonly mutant: Mutant
  /** The file it breaks, as it is. */
  readonly text: string
  readonly checks: readonly Check[]
  /** Each layer is asked, for any results of the others. */
  readonly everyLayer: boolean
}

const askSome = async (
  { tests, histories }: Askers,
  { mutant, text }: Question,
  checks: readonly Check[],
): Promise<CheckResult | undefined> => {
  const [first] = checks
  if (!first) return undefined
  const isHistory = layerOf(first.name) === 'histories'
  const times = new Map(checks.map(({ name, ms }) => [name, boundMs(ms)]))
  const replaced = { path: mutant.path, text: withMutant(text, mutant) }
  const ask = { checks: checks.map(({ name }) => name), replaced }
  const results = await (isHistory ? histories : tests).ask(ask, (name) => times.get(name) ?? boundMs(0))
  // What a process has loaded it keeps.
  if (isHistory) histories.end()
  return results.find(({ failed, unloaded }) => failed ?? unloaded)
}

/** The layers in which something fails, in their order, up to the first one unless each is asked. */
export const askMutant = async (askers: Askers, question: Question): Promise<Verdict> => {
  const { checks, everyLayer } = question
  const layers: Verdict['layers'] = {}
  // Test files of several layers share one start where the first failure is enough.
  const together: readonly (readonly Layer[])[] = everyLayer
    ? LAYERS.map((layer) => [layer])
    : [['unit', 'functions', 'integration'], ['histories']]
  for (const some of together) {
    const asked = checks.filter(({ name }) => some.includes(layerOf(name)))
    const result = await askSome(askers, question, asked)
    if (result?.unloaded !== undefined) return { layers: {}, invalid: result.unloaded }
    const killer = result && layerOf(result.name)
    for (const layer of some) {
      layers[layer] = null
      if (result && layer === killer) {
        layers[layer] = { check: result.name, failed: result.failed ?? '' }
        break
      }
    }
    if (killer && !everyLayer) break
  }
  return { layers }
}

/** The first layer that has killed it. */
export const killerOf = ({ layers }: Verdict): Layer | undefined => LAYERS.find((layer) => layers[layer])
