import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  readOptions,
  runProgram,
  UsageError,
  wholeNumber,
} from '../../infra/local/terminal/command-line.ts'
import { runTool } from '../support/run-tool.ts'
import { buildChecker, judgeHistory, type Verdict } from './history-record.ts'
import { runHistory } from './run-history.ts'

/**
 * Goal: what callers see of the gateway is as if each call happened at one moment between its
 * beginning and its answer, whatever kills the process in between. Method: many callers by HTTP on
 * the gateway as `npm start` runs it, SIGKILL at random moments, and Porcupine, an independent
 * tool, to judge what they saw.
 */

const USAGE = `npm run histories [-- --seed N] [--count N] [--seconds N]

Runs the gateway as npm start does. Callers use it in parallel by HTTP, and a SIGKILL ends it every few seconds. Porcupine
judges their answers for linearizability: by key, by payment, and by client's balance. Needs Go and, the first time, the
Go module proxy; skipped without Go. Everything else stays on this machine.
  --seed N       chooses the calls and the kills (default 1); the machine decides how calls interleave
  --count N      number of histories, each with the next seed (default 3)
  --seconds N    how long the gateway of each runs under its callers (default 25)
  --help, -h     this text
Exit code: 0 linearizable, or skipped, 1 refuted, not decided, or nothing paid out, 2 wrong arguments.`

/** One defect may refute every partition, so only the first are named. */
const MAX_ALERTED = 5

// So that started processes end with this process.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130))
await runProgram(USAGE, histories)

async function histories(argv: readonly string[]) {
  const options = readOptions(argv, {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '25' },
  })
  const first = numberOf(options.seed, 2 ** 31)
  const count = numberOf(options.count, 1_000)
  const seconds = numberOf(options.seconds, 600)
  if ((await runTool('go', ['version'])).code !== 0) {
    console.log('skipped: there is no Go on this machine, which Porcupine needs')
    return 0
  }
  const directory = mkdtempSync(join(tmpdir(), 'gateway-histories-'))
  const checker = await buildChecker(directory)
  let kept = false
  let payouts = 0
  for (let seed = first; seed < first + count; seed++) {
    const startedMs = performance.now()
    const { records, kills } = await runHistory(seed, seconds)
    const paidOut = records.filter(({ op, outcome }) => op === 'mark_paid' && outcome === 'ok')
    payouts += paidOut.length
    const took = Math.round((performance.now() - startedMs) / 1_000)
    console.log(
      `seed ${seed}: ${records.length} calls, ${paidOut.length} payouts, killed and started again ${kills} times, ${took} s`,
    )
    const history = join(directory, String(seed))
    const holds = report(await judgeHistory(checker, records, history))
    if (holds) rmSync(history, { recursive: true })
    else console.log(`    the history: ${join(history, 'history.jsonl')}`)
    kept ||= !holds
  }
  if (!kept) rmSync(directory, { recursive: true })
  // Every payout was refused: the histories say nothing of money that is paid out.
  if (payouts === 0) console.log('nothing was paid out in any history')
  return kept || payouts === 0 ? 1 : 0
}

function numberOf(text: string, most: number) {
  const number = wholeNumber(text)
  if (number === undefined || number < 1 || number > most)
    throw new UsageError(`a number from 1 to ${most} is needed`)
  return number
}

function report(verdicts: readonly Verdict[]) {
  for (const { model, partitions, operations, open_ended, refuted, undecided } of verdicts) {
    const said =
      refuted.length > 0 ? 'REFUTED' : undecided.length > 0 ? 'NOT DECIDED' : 'linearizable'
    console.log(
      `  ${model.padEnd(9)} ${partitions} of them, ${operations} operations, ${open_ended} without an answer: ${said}`,
    )
    for (const { partition, page } of refuted.slice(0, MAX_ALERTED))
      console.log(`    ${partition}: open ${page} in a browser`)
    if (refuted.length > MAX_ALERTED)
      console.log(`    and ${refuted.length - MAX_ALERTED} more beside them`)
    for (const partition of undecided)
      console.log(`    ${partition}: no order was found, or refuted, in a minute`)
  }
  return verdicts.every(({ refuted, undecided }) => refuted.length + undecided.length === 0)
}
