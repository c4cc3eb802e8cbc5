import { reportSituation } from '../sometimes/report-situation.ts'
import { invoke } from '../world/lambda.ts'
import type { Process } from '../world/process.ts'
import { count } from '../world/tally.ts'
import type { Happens, Scene } from './http.ts'

const SECOND_MS = 1_000
/** Functions that answer HTTP are frozen elsewhere. */
const WORKERS = /^(deliver-webhook|redeliver|check-due-(deliveries|alerts))$/
/** The functions that end payments, and write the time. */
const ENDERS = /^(check-due-payments|sync-slices|sync-provider-transactions)$/
/** Longer than a retry may keep its first time. */
const OVER_A_MINUTE_MS = [79, 84].map((seconds) => seconds * SECOND_MS)
/** Within their first reads. */
const EARLY_MS = 60
/** Shorter than a claim, even with the time of a request on its way. */
const PAUSES_MS = [2, 6, 9, 10].map((seconds) => seconds * SECOND_MS)
const NEARLY_OVER_MS = [9, 10, 11].map((seconds) => seconds * SECOND_MS)
/** Around the end of a claim of a minute. */
const LONG_PAUSES_MS = [5, 40, 62, 80].map((seconds) => seconds * SECOND_MS)
/** How long a worker takes to begin a round of a delivery whose alert is being sent. */
const MOMENTS_MS = [80, 120]

/**
 * A worker is frozen and continues with its old read, or it dies between a write and its message.
 */
export function freezeWorkers({ world, scenePrng, scheduler }: Scene, happens: Happens) {
  const events = new WeakMap<Process, unknown>()
  /** Between two steps that belong together: another worker must find what is left. */
  const die = (process: Process) => {
    count(world.tally, `killed between two steps: ${process.name}`)
    process.kill()
  }
  const pause = (process: Process, longMs: readonly number[]) => {
    if (!process.alive()) return
    count(world.tally, `frozen: ${process.name}`)
    process.freeze()
    scheduler.after(scenePrng.pick(longMs), () => process.thaw())
    const event = events.get(process)
    if (event !== undefined && scenePrng.chance(0.5))
      scheduler.after(scenePrng.int(0, 3_000), () => void invoke(world, process.name, event))
  }
  /** If clocks differ enough, a claim expires for other workers before it expires for its own. */
  const isSkewed = () => world.faults.clockSkewMs > 3_000
  const often = () => (isSkewed() ? 4 : 1)
  const pauseClaimed = (process: Process) => pause(process, isSkewed() ? NEARLY_OVER_MS : PAUSES_MS)

  world.onStarted.push((process, event) => {
    if (process.name === 'deliver-webhook') events.set(process, event)
    if (!WORKERS.test(process.name) || !happens(0.02)) return
    scheduler.after(scenePrng.int(5, EARLY_MS), () => pause(process, PAUSES_MS))
  })

  world.onChange.push(({ key, before, after }) => {
    const { acting } = world
    if (acting === undefined) return
    // Between a commit and its messages.
    const isNew = key.sk === 'DELIVERY' && before === undefined
    if (isNew && acting.alive() && happens(0.03)) die(acting)
    if (isNew || !WORKERS.test(acting.name)) return
    const isToTell = before !== undefined && before['last_alert_at'] !== after?.['last_alert_at']
    const isClaimed = key.sk === 'DELIVERY' && after?.['claim_token'] !== undefined
    if (isToTell && happens(0.4))
      pause(acting, [
        ...MOMENTS_MS,
        ...(acting.name === 'check-due-alerts' ? LONG_PAUSES_MS : PAUSES_MS),
      ])
    else if (key.sk === 'DELIVERY' && before?.['attempts'] !== after?.['attempts'] && happens(0.02))
      die(acting)
    else if (isClaimed && before?.['claim_token'] === undefined) {
      // Due work then checks it during its attempt.
      const isNearlyDue = Date.parse(String(after['due_at'])) < scheduler.nowMs() + 30 * SECOND_MS
      if (!happens(isNearlyDue ? 0.5 : 0.02 * often())) return
      reportSituation(world, 'a worker is frozen while it holds a claim')
      pauseClaimed(acting)
    }
  })

  // It continues with the due work that it read before.
  world.onFault.push((fault) => {
    const { acting } = world
    if (fault !== 'tableConflict' || acting === undefined || !ENDERS.test(acting.name)) return
    if (happens(acting.name === 'check-due-payments' ? 0.5 : 0.05)) pause(acting, OVER_A_MINUTE_MS)
  })

  world.onAlerted.push((_, process) => {
    if (!WORKERS.test(process.name)) return
    if (happens(0.1)) die(process)
    else if (process.name === 'check-due-alerts' && happens(0.3)) pause(process, LONG_PAUSES_MS)
  })

  world.onPost.push((_, process) => {
    if (WORKERS.test(process.name) && happens(0.03 * often())) pauseClaimed(process)
  })
}
