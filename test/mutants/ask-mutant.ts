import type { Asker } from './asking.ts'
import { boundMs, type Check, layerOf } from './checks.ts'
import { type Mutant, withMutant } from './generate-mutants.ts'

/** What the checks say of a mutant. */
export type Verdict = {
  /** The first test file or seed that failed, and what of it. */
  readonly killer?: { readonly check: string; readonly failed: string } | undefined
  /** It cannot be loaded: its change is no program, which says nothing of the tests. */
  readonly invalid?: string | undefined
}

export type Askers = { readonly tests: Asker; readonly histories: Asker }

export type Question = {
  readonly mutant: Mutant
  /** The file it breaks, as it is. */
  readonly text: string
  readonly checks: readonly Check[]
}

const askSome = async (
  asker: Asker,
  { mutant, text }: Question,
  checks: readonly Check[],
): Promise<Verdict | undefined> => {
  if (checks.length === 0) return undefined
  const times = new Map(checks.map(({ name, ms }) => [name, boundMs(ms)]))
  const replaced = { path: mutant.path, text: withMutant(text, mutant) }
  const results = await asker.ask(
    { checks: checks.map(({ name }) => name), replaced },
    (name) => times.get(name) ?? boundMs(0),
  )
  const ended = results.find(({ failed, unloaded }) => failed ?? unloaded)
  if (ended?.unloaded !== undefined) return { invalid: ended.unloaded }
  return ended && { killer: { check: ended.name, failed: ended.failed ?? '' } }
}

/** Asks the test files, and then the histories, up to the first that fails. */
export const askMutant = async ({ tests, histories }: Askers, question: Question): Promise<Verdict> => {
  const isHistory = ({ name }: Check) => layerOf(name) === 'histories'
  const { checks } = question
  const ofTests = await askSome(
    tests,
    question,
    checks.filter((check) => !isHistory(check)),
  )
  if (ofTests) return ofTests
  const ofHistories = await askSome(histories, question, checks.filter(isHistory))
  // What a process has loaded it keeps.
  histories.end()
  return ofHistories ?? {}
}
