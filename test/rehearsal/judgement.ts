import { MANIFEST } from '../../functions/manifest.ts'
import { STACK } from './rehearsal.ts'
import type { Verdict } from './verdicts.ts'

/** Sums the verdicts up, without those of calls that were made to be refused. */
export function judgementOn(verdicts: readonly Verdict[]) {
  const calls = new Map<string, number>()
  for (const name of verdicts.flatMap((verdict) => functionOf(verdict) ?? []))
    calls.set(name, (calls.get(name) ?? 0) + 1)
  const askNothing = MANIFEST.filter(
    ({ table, sends, alerts, secrets }) =>
      Object.keys(table).length === 0 && sends.length === 0 && !alerts && secrets.length === 0,
  ).map(({ name }) => name)
  return {
    calls,
    denied: verdicts.filter(({ denied }) => denied !== null).map(describeVerdict),
    /** Functions that may call AWS and never did. */
    silent: MANIFEST.map(({ name }) => name).filter(
      (name) => !calls.has(name) && !askNothing.includes(name),
    ),
    askNothing,
  }
}

/** The function that asked: Lambda names the session of its role after it. */
function functionOf({ principal }: Verdict) {
  return new RegExp(`:assumed-role/[^/]+/${STACK}-(.+)$`).exec(principal)?.[1]
}

function describeVerdict({ principal, action, resource, kinds, denied }: Verdict) {
  return `${principal.split('/').at(-1)} ${action} ${resource}${kinds.length > 0 ? ` of ${kinds.join(', ')}` : ''}${denied === null ? '' : `: ${denied}`}`
}

/** Returns whether no call was denied and no function was silent. */
export function printReport(
  { calls, denied, silent, askNothing }: ReturnType<typeof judgementOn>,
  limits: readonly string[],
) {
  const all = [...calls.values()].reduce((sum, count) => sum + count, 0)
  console.log(
    `\n${all} calls of ${calls.size} functions were judged by the policies of their roles:`,
  )
  for (const [name, count] of [...calls].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`${String(count).padStart(6)}  ${name}`)
  }
  console.log(`Asks AWS nothing, so there is nothing to judge: ${askNothing.join(', ')}`)
  for (const name of silent) console.log(`Made no call: ${name}`)
  for (const verdict of denied) console.log(`DENIED  ${verdict}`)
  console.log('\nWhat the emulator could not do in this run (docs/reliability.md has the rest):')
  for (const limit of limits) console.log(`  - ${limit}`)
  return denied.length === 0 && silent.length === 0
}
