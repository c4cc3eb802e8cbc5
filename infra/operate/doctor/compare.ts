import { type Finding, ok, wrong } from '../check/finding.ts'

/** A setting's name, what the stack says, and what is deployed. */
export type Comparison = readonly [setting: string, expected: unknown, found: unknown]

const DEPLOY_AGAIN = 'npm run deploy puts it back; if someone changed it by hand, find out why first'

/** One finding for a thing with several settings, naming those that differ. */
export const compareSettings = (what: string, comparisons: readonly Comparison[], summary: string): Finding => {
  const different = comparisons
    .filter(([, expected, found]) => JSON.stringify(expected) !== JSON.stringify(found))
    .map(([setting, expected, found]) => `${setting} is ${shown(found)}, should be ${shown(expected)}`)
  return different.length === 0 ? ok(what, summary) : wrong(what, different.join('; '), DEPLOY_AGAIN)
}

const shown = (value: unknown): string => (value === undefined ? 'not set' : JSON.stringify(value))
