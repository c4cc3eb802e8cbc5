import type { Play } from '../histories/operations.ts'
import { drive } from '../world/drive.ts'
import { type InvokeOptions, invoke } from '../world/lambda.ts'
import { sqsEvent } from '../world/sim-queue.ts'
import {
  abandoned,
  aged,
  agedInNumbers,
  alertsDue,
  alone,
  atTheirLast,
  audited,
  auditOf,
  callback,
  cancel,
  create,
  created,
  credited,
  disputeWon,
  expired,
  failed,
  forClient,
  handedOut,
  listLong,
  onSettlement,
  paid,
  pass,
  recredited,
  redeliverOwn,
  scheduled,
  scheduledToSlow,
  settled,
  unposted,
  unsent,
  voided,
} from './flow-steps.ts'

/**
 * A flow whose every await is a crash point. `prepare` brings the world to just before it, without faults but with
 * nothing that would run the flow by itself; `run` is the one invocation that is killed; `retry` is what its caller
 * does afterwards, where there is a caller.
 */
export type Flow = {
  readonly name: string
  readonly prepare: (play: Play) => Promise<unknown>
  readonly run: (play: Play, prepared: unknown, options: InvokeOptions) => Promise<unknown>
  readonly retry?: (play: Play, prepared: unknown) => Promise<unknown>
}

const sendCreate: Flow['run'] = (play, _, options) => create(play, undefined, options)

const retryCreate: Flow['retry'] = async (play) => {
  await pass(play, 31_000)
  await drive(play.world, create(play))
}

const retryCancel: Flow['retry'] = (play, id) => drive(play.world, cancel(play, id))

const retryRedeliver: Flow['retry'] = (play, id) => drive(play.world, redeliverOwn(play, id))

const longPage: Flow['run'] = (play, _, options) => listLong(play, options)

/** A long page takes more than the client may have in a second; the next one finds nothing left. */
const usedUp: Flow['prepare'] = async (play) => {
  await created(play)
  await drive(play.world, listLong(play))
}

/** A create that the provider took and whose answer was lost. */
const unanswered: Flow['prepare'] = async (play) => {
  alone(play, { providerAnswerLost: 1 })
  await drive(play.world, create(play))
  alone(play)
}

const cancelFailed: Flow['prepare'] = (play) =>
  expired(play, async (id) => {
    alone(play, { providerUnreachable: 1 })
    await drive(play.world, cancel(play, id))
    alone(play)
  })

const later =
  (prepare: Flow['prepare'], ms: number): Flow['prepare'] =>
  async (play) => {
    const prepared = await prepare(play)
    await pass(play, ms)
    return prepared
  }

/** After a sync that has read everything so far. */
const synced =
  (prepare: Flow['prepare']): Flow['prepare'] =>
  async (play) => {
    alone(play)
    await drive(play.world, invoke(play.world, 'sync-provider-transactions', {}))
    return prepare(play)
  }

/** An invocation with what was prepared, or with what is made of it. */
const run =
  (name: string, eventOf: (play: Play, prepared: unknown) => unknown = (_, prepared) => prepared): Flow['run'] =>
  (play, prepared, options) =>
    invoke(play.world, name, eventOf(play, prepared), options)

const scheduledRun = (name: string) => run(name, () => ({}))
const onPrepared = (name: string, more: object = {}) => run(name, (_, id) => ({ ...onSettlement(id), ...more }))
const settle = run('settle-client', (play) =>
  sqsEvent([{ messageId: 'm', body: JSON.stringify({ client_id: forClient(play).client_id }) }]),
)

const audit = run('audit-client', (play) => auditOf({ client_id: forClient(play).client_id }))
const auditRecorded = run('audit-client', (_, id) => auditOf({ settlement_id: id }))

const adjust = run('adjust-ledger', (play) => ({
  ...forClient(play),
  kind: 'recovered',
  amount_minor: 1_000,
  reference: 'r-1',
}))

const refusedByMerchant: Flow['prepare'] = async (play) => {
  const event = await scheduled(play)
  alone(play, { merchantFails: 1 })
  return event
}

const hungAtMerchant: Flow['prepare'] = async (play) => {
  const event = await scheduled(play)
  alone(play, { endpointHangs: 1 })
  return event
}

const flow = (name: string, prepare: Flow['prepare'], killed: Flow['run'], retry?: Flow['retry']): Flow => ({
  name,
  prepare,
  run: killed,
  ...(retry && { retry }),
})

const dueWork = scheduledRun('check-due-work')
const duePayments = run('check-due-payments')
const sync = scheduledRun('sync-provider-transactions')
const woken = run('sync-slices', () => sqsEvent([{ messageId: 'm', body: JSON.stringify({ woken: true }) }]))
const trigger = run('trigger-settlement', forClient)
const wrongAmount: Flow['prepare'] = (play) => paid(play, 299_999)

const grow = run('update-client', (play) => ({ ...forClient(play), ledger_parts: 2 }))

/** Whatever was told or not told of the parts, what is made in them a minute later must be found by everybody. */
const createGrown: Flow['retry'] = async (play, prepared) => {
  await drive(play.world, grow(play, prepared, {}))
  await pass(play, 61_000)
  for (const key of ['grown-1', 'grown-2', 'grown-3']) await drive(play.world, create(play, undefined, {}, key))
}

export const FLOWS: readonly Flow[] = [
  flow('create', async () => undefined, sendCreate, retryCreate),
  flow('create, taking over', unanswered, sendCreate, retryCreate),
  flow('long page, counted', created, longPage),
  flow('long page, refused', usedUp, longPage),
  flow('callback', paid, callback),
  flow('callback, wrong amount', wrongAmount, callback),
  flow('cancel', created, cancel, retryCancel),
  flow('due work, handed out', expired, dueWork),
  flow('expiry', handedOut('due-payments', expired), duePayments),
  flow('cancel, past its time', expired, cancel, retryCancel),
  flow('expiry, after a cancel that failed', handedOut('due-payments', cancelFailed), duePayments),
  flow('lost callback', handedOut('due-payments', later(paid, 86_401_000)), duePayments),
  flow(
    'messages that were not sent',
    handedOut('due-deliveries', later(unsent, 61_000), 2),
    run('check-due-deliveries'),
  ),
  flow('deliver', scheduled, run('deliver-webhook')),
  flow('deliver, refused by the merchant', refusedByMerchant, run('deliver-webhook')),
  flow('deliver, to an endpoint that hangs', hungAtMerchant, run('deliver-webhook')),
  flow('deliver, sent on to the slow lane', scheduledToSlow(false), run('deliver-webhook')),
  flow('deliver, answered in the slow lane', scheduledToSlow(true), run('deliver-webhook')),
  flow('redelivery, by its merchant', abandoned, redeliverOwn, retryRedeliver),
  flow('deliver, abandoned', async (play) => (await atTheirLast(play, 'last'))[0], run('deliver-webhook')),
  flow('alerts of an endpoint', handedOut('due-alerts', alertsDue), run('check-due-alerts')),
  flow('sweep', aged, scheduledRun('sweep-settlements')),
  flow('settle', aged, settle),
  flow('settle, in steps', agedInNumbers, settle),
  flow('trigger', aged, trigger),
  flow('mark paid', audited, onPrepared('mark-settlement-paid', { bank_reference: 'b-1' })),
  flow('mark failed', settled, onPrepared('mark-settlement-failed')),
  flow('recredit', failed, onPrepared('recredit-settlement')),
  flow('settle a re-credit', recredited, trigger),
  flow('adjust', created, adjust, (play, id) => drive(play.world, adjust(play, id, {}))),
  flow('audit', aged, audit),
  flow('audit, of a settlement', later(settled, 61_000), auditRecorded),
  flow('sync', synced(later(credited, 3_600_000)), sync),
  flow('sync, posting', synced(unposted), sync),
  flow('sync, finding a lost capture', synced(paid), sync),
  flow('sync, of money that went back', synced(later(voided, 3_600_000)), sync),
  flow('sync, of a dispute that was won', synced(later(disputeWon, 3_600_000)), sync),
  flow('sync, by a worker that is woken', synced(later(paid, 300_000)), woken),
  flow('grow', created, grow, createGrown),
  flow(
    'refresh',
    (play) => paid(play),
    run('refresh-payment', (_, id) => ({ operator: 'sim', payment_id: id })),
  ),
]
