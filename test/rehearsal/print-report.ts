import type { Judgement } from './judgement.ts'
import { NOT_EMULATED } from './not-emulated.ts'

/** What was judged and what the emulator cannot do. Answers whether all went well. */
export const printReport = ({ calls, denied, silent, askNothing }: Judgement, limits: readonly string[]): boolean => {
  const all = [...calls.values()].reduce((sum, count) => sum + count, 0)
  console.log(`\n${all} calls of ${calls.size} functions were judged by the policies of their roles:`)
  for (const [name, count] of [...calls].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`${String(count).padStart(6)}  ${name}`)
  }
  console.log(`Asks AWS nothing, so there is nothing to judge: ${askNothing.join(', ')}`)
  for (const name of silent) console.log(`Was never heard: ${name}`)
  for (const one of denied) console.log(`DENIED  ${one}`)
  console.log('\nWhat the emulator cannot do, so that it was not rehearsed or was mended for it:')
  for (const limit of [...NOT_EMULATED, ...limits]) console.log(`  - ${limit}`)
  return denied.length === 0 && silent.length === 0
}
