import type { Play } from '../histories/operations.ts'
import { invoke, operate } from '../world/lambda.ts'
import { sqsEvent } from '../world/sim-queue.ts'
import { drive } from '../world/world.ts'
import {
  alone,
  callback,
  create,
  created,
  credited,
  type Flow,
  flow,
  forClient,
  HOUR_MS,
  later,
  onSettlement,
  paid,
  pass,
  run,
  scheduledRun,
  upstreamOf,
} from './flow-steps.ts'

/** A credited payment that the provider voids. */
const voided = async (play: Play): Promise<void> => {
  const id = await paid(play)
  await drive(play.world, callback(play, id))
  play.world.provider.reversePayment(upstreamOf(play, id).payment_request_id, { kind: 'voided' })
}

/** A credited payment whose money a dispute took, which is heard of, and gives again. */
const disputeWon = async (play: Play): Promise<void> => {
  const id = await paid(play)
  await drive(play.world, callback(play, id))
  const take = (kind: string) => play.world.provider.reversePayment(upstreamOf(play, id).payment_request_id, { kind })
  take('chargeback')
  await pass(play, HOUR_MS)
  await drive(play.world, invoke(play.world, 'sync-provider-transactions', {}))
  take('chargeback_reversal')
}

/** A credited payment whose row the provider settles meanwhile. */
const unposted = async (play: Play): Promise<void> => {
  await credited(play)
  await pass(play, 26 * HOUR_MS)
}

/** Funds that are posted and may be settled. */
const aged = async (play: Play): Promise<void> => {
  await unposted(play)
  await drive(play.world, invoke(play.world, 'sync-provider-transactions', {}))
}

/** More of them than one run sums. */
const agedInNumbers = async (play: Play): Promise<void> => {
  for (const key of ['first', 'second', 'third']) await credited(play, key)
  await aged(play)
}

const settled = async (play: Play): Promise<string> => {
  await aged(play)
  const reply = await drive(play.world, operate(play.world, 'trigger-settlement', forClient(play)))
  const [settlement] = (reply?.body['settlements'] ?? []) as { readonly id: string }[]
  if (!settlement) throw new Error(`nothing was settled: ${JSON.stringify(reply)}`)
  return settlement.id
}

/** A settlement that was audited a minute after its record. */
const audited = async (play: Play): Promise<string> => {
  const id = await settled(play)
  await pass(play, 61_000)
  await drive(play.world, invoke(play.world, 'audit-client', messageOf({ settlement_id: id })))
  return id
}

const messageOf = (body: object): object => sqsEvent([{ messageId: 'm', body: JSON.stringify(body) }])

const failed = async (play: Play): Promise<string> => {
  const id = await settled(play)
  await drive(play.world, operate(play.world, 'mark-settlement-failed', onSettlement(id)))
  return id
}

const recredited = async (play: Play): Promise<void> => {
  const id = await failed(play)
  await drive(play.world, operate(play.world, 'recredit-settlement', onSettlement(id)))
}

/** After a sync that has read everything so far. */
const synced =
  (prepare: Flow['prepare']): Flow['prepare'] =>
  async (play) => {
    alone(play)
    await drive(play.world, invoke(play.world, 'sync-provider-transactions', {}))
    return prepare(play)
  }

const onPrepared = (name: string, more: object = {}) => run(name, (_, id) => ({ ...onSettlement(id), ...more }))
const ADJUSTMENT = { kind: 'recovered', amount_minor: 1_000, reference: 'r-1' }

const settle = run('settle-client', (play) => messageOf({ client_id: forClient(play).client_id }))
const audit = run('audit-client', (play) => messageOf({ client_id: forClient(play).client_id }))
const auditRecorded = run('audit-client', (_, id) => messageOf({ settlement_id: id }))
const adjust = run('adjust-ledger', (play) => ({ ...forClient(play), ...ADJUSTMENT }))
const sync = scheduledRun('sync-provider-transactions')
const woken = run('sync-slices', () => messageOf({ woken: true }))
const trigger = run('trigger-settlement', forClient)
const refresh = run('refresh-payment', (_, id) => ({ operator: 'sim', payment_id: id }))
const grow = run('update-client', (play) => ({ ...forClient(play), ledger_parts: 2 }))

/** Whatever was told or not told of the parts, what is made in them a minute later must be found by everybody. */
const createGrown: Flow['retry'] = async (play, prepared) => {
  await drive(play.world, grow(play, prepared, {}))
  await pass(play, 61_000)
  for (const key of ['grown-1', 'grown-2', 'grown-3']) await drive(play.world, create(play, undefined, {}, key))
}

/** From a settled row to a payout, and what may come between. */
export const MONEY_FLOWS: readonly Flow[] = [
  flow('sweep', 3, aged, scheduledRun('sweep-settlements')),
  flow('settle', 28, aged, settle),
  flow('settle, in steps', 32, agedInNumbers, settle),
  flow('trigger', 29, aged, trigger),
  flow('mark paid', 20, audited, onPrepared('mark-settlement-paid', { bank_reference: 'b-1' })),
  flow('mark failed', 3, settled, onPrepared('mark-settlement-failed')),
  flow('recredit', 4, failed, onPrepared('recredit-settlement')),
  flow('settle a re-credit', 29, recredited, trigger),
  flow('adjust', 5, created, adjust, (play, id) => drive(play.world, adjust(play, id, {}))),
  flow('audit', 18, aged, audit),
  flow('audit, of a settlement', 17, later(settled, 61_000), auditRecorded),
  flow('sync', 9, synced(later(credited, 3_600_000)), sync),
  flow('sync, posting', 24, synced(unposted), sync),
  flow('sync, finding a lost capture', 15, synced(paid), sync),
  flow('sync, of money that went back', 15, synced(later(voided, 3_600_000)), sync),
  flow('sync, of a dispute that was won', 15, synced(later(disputeWon, 3_600_000)), sync),
  flow('sync, by a worker that is woken', 15, synced(later(paid, 300_000)), woken),
  flow('grow', 20, created, grow, createGrown),
  flow('refresh', 15, (play) => paid(play), refresh),
]
