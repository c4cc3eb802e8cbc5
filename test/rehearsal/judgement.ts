import { MANIFEST } from '../../functions/manifest.ts'
import { STACK } from './rehearsal.ts'
import { describeVerdict, functionOf, type Verdict } from './verdicts.ts'

export type Judgement = {
  /** How many calls of each function were judged, by its name. */
  readonly calls: ReadonlyMap<string, number>
  /** Calls of functions, operators and tools that were refused. */
  readonly denied: readonly string[]
  /** Functions that may ask AWS something and were never heard. */
  readonly silent: readonly string[]
  /** Functions whose role lets them ask nothing. */
  readonly askNothing: readonly string[]
}

/** What the judge said of the rehearsal, besides the calls that were made to be refused. */
export const judgementOn = (verdicts: readonly Verdict[]): Judgement => {
  const calls = new Map<string, number>()
  for (const verdict of verdicts) {
    const name = functionOf(verdict, STACK)
    if (name !== undefined) calls.set(name, (calls.get(name) ?? 0) + 1)
  }
  const askNothing = MANIFEST.filter(
    ({ table, sends, alerts, secrets }) =>
      Object.keys(table).length === 0 && sends.length === 0 && !alerts && secrets.length === 0,
  ).map(({ name }) => name)
  return {
    calls,
    denied: verdicts.filter(({ denied }) => denied !== null).map(describeVerdict),
    silent: MANIFEST.map(({ name }) => name).filter((name) => !calls.has(name) && !askNothing.includes(name)),
    askNothing,
  }
}
