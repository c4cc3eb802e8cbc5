import { WORK_SLOTS } from '../../../shared/table/schema.ts'
import { drive } from '../../simulation/world/drive.ts'
import { invoke } from '../../simulation/world/lambda.ts'
import { sqsEvent } from '../../simulation/world/sim-queue.ts'
import { EXPIRES_IN_SECONDS, startWallsWorld } from './walls-world.ts'

/** What one worker does in a second of its time, with a quota that never ends and a provider of 200 ms. */
export type WorkerSpeeds = {
  /** Unpaid payments brought to their end. */
  readonly dueItems: number
  /** Pages of transactions that are known already. */
  readonly pages: number
}

const NO_QUOTA = 10_000_000
const PAYMENTS = 800
const ROWS_A_PAGE = 50

const measureDue = async (): Promise<number> => {
  const { world, create, pass } = await startWallsWorld(NO_QUOTA)
  // Nothing is handed out but by this measurement.
  world.paused.add('due-payments')
  world.provider.orderFault({ target: 'callback', fault: 'lost', times: PAYMENTS })
  for (let made = 0; made < PAYMENTS; made++) void create()
  await pass(EXPIRES_IN_SECONDS * 1_000 + 30_000)
  let busyMs = 0
  for (let slot = 0; slot < WORK_SLOTS.payment; slot++) {
    const from = world.scheduler.nowMs()
    const body = JSON.stringify({ slot, part: 0, parts: 1 })
    const message = { messageId: `m-${slot}`, body, receipt: `r-${slot}` }
    const run = await drive(world, invoke(world, 'check-due-payments', sqsEvent([message])))
    if (run.kind !== 'done') throw new Error(`check-due-payments ${run.kind}`)
    busyMs += world.scheduler.nowMs() - from
  }
  const ended = world.table
    .items('PAYMENT#')
    .filter(({ sk, status }) => sk === 'PAYMENT' && status === 'expired').length
  if (ended !== PAYMENTS) throw new Error(`${ended} of ${PAYMENTS} have ended`)
  return (ended / busyMs) * 1_000
}

const measurePages = async (): Promise<number> => {
  const { world, create, pay, pass } = await startWallsWorld(NO_QUOTA)
  const ids = Array.from({ length: PAYMENTS }, () => create())
  await pass(10_000)
  for (const id of ids) pay((await id) ?? '')
  // Their callbacks are answered; what the schedule reads of them meanwhile is not what is measured.
  await pass(30_000)
  world.provider.resetCalls()
  const from = world.scheduler.nowMs()
  const run = await drive(world, invoke(world, 'sync-provider-transactions', {}))
  if (run.kind !== 'done') throw new Error(`the sync ${run.kind}`)
  const ms = world.scheduler.nowMs() - from
  const rows = world.provider.callCounts()['rows GET /transactions'] ?? 0
  if (rows < PAYMENTS) throw new Error(`the sync read ${rows} rows of ${PAYMENTS}`)
  return (rows / ROWS_A_PAGE / ms) * 1_000
}

export const measureWorkers = async (): Promise<WorkerSpeeds> => ({
  dueItems: await measureDue(),
  pages: await measurePages(),
})
