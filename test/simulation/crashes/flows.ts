import { verdictKey } from '../../../shared/table/keys.ts'
import { GATEWAY_OWNER } from '../../../shared/table/schema.ts'
import { exists, update } from '../../../shared/table/step.ts'
import { text } from '../../support/recount/books.ts'
import type { Play } from '../histories/play.ts'
import type { Faults } from '../world/faults.ts'
import { type InvokeOptions, invoke, operate, requestAs } from '../world/lambda.ts'
import { rowsOf } from '../world/rows.ts'
import { sqsEvent } from '../world/sim-queue.ts'
import { runUntil } from '../world/world.ts'
import {
  callback,
  createPayment,
  creditPayment,
  type Flow,
  forClient,
  HOUR_MS,
  handOut,
  onSettlement,
  PAYMENT_FLOWS,
  type Prepare,
  passTime,
  payUpstream,
  run,
  scheduledRun,
  stopTriggers,
  tenantOf,
  thenWait,
  upstreamOf,
} from './payment-flows.ts'

const creditUnposted = thenWait(creditPayment, 26 * HOUR_MS)

const deliver = run('deliver-webhook')
const dueDeliveries = run('check-due-deliveries')

const WEBHOOK_FLOWS: readonly Flow[] = [
  [
    'messages that were not sent',
    5,
    handOut('due-deliveries', thenWait(loseMessages, 61_000), 2),
    dueDeliveries,
  ],
  ['deliver', 6, scheduleDelivery(), deliver],
  ['deliver, refused by the merchant', 7, scheduleDelivery({ merchantFails: 1 }), deliver],
  ['deliver, to an endpoint that hangs', 8, scheduleDelivery({ endpointHangs: 1 }), deliver],
  ['deliver, sent on to the slow lane', 2, scheduleToSlow(false), deliver],
  ['deliver, answered in the slow lane', 7, scheduleToSlow(true), deliver],
  ['redelivery, by its merchant', 5, abandonDelivery, redeliverOwn, redeliverOwn],
  ['deliver, abandoned', 6, async (play) => (await reachLastAttempt(play, 'last'))[0], deliver],
  ['alerts of an endpoint', 32, handOut('due-alerts', makeAlertsDue), run('check-due-alerts')],
]

const ADJUSTMENT = { kind: 'correction', amount_minor: -1_000, reference: 'r-1' }

const BY_SIM = { operator: 'sim' }

const makeFile = run('payout-file', () => BY_SIM)
const onBatch = run('payout-answer', (_, row) => ({ ...BY_SIM, lines: [lineOf(row)] }))
const settle = run('settle-client', (play) => messageOf({ client_id: forClient(play).client_id }))
const audit = run('audit-client', (play) => messageOf({ client_id: forClient(play).client_id }))
const auditOfGateway = run('audit-client', () => messageOf({ gateway: true }))
const adjust = run('adjust-ledger', (play) => ({ ...forClient(play), ...ADJUSTMENT }))
const sync = scheduledRun('sync-provider-transactions')
const wakeSync = run('sync-slices', () => messageOf({ woken: true }))
const trigger = run('trigger-settlement', forClient)
const refresh = run('refresh-payment', (_, id) => ({ operator: 'sim', payment_id: id }))

const MONEY_FLOWS: readonly Flow[] = [
  ['sweep', 3, ageFunds, scheduledRun('sweep-settlements')],
  ['settle', 29, ageFunds, settle],
  ['settle, in steps', 33, ageManyFunds, settle],
  ['trigger', 30, ageFunds, trigger],
  ['mark paid', 29, auditSettlement, onPrepared('mark-settlement-paid', { bank_reference: 'b-1' })],
  ['payout file', 46, auditSettlement, makeFile, (play, id) => makeFile(play, id, {})],
  ['payout answer', 33, batchSettlement, onBatch, (play, row) => onBatch(play, row, {})],
  ['mark failed', 6, recordSettlement, onPrepared('mark-settlement-failed')],
  ['recredit', 10, approveRecredit, onPrepared('recredit-settlement')],
  ['settle a re-credit', 30, recordThen('mark-settlement-failed', 'recredit-settlement'), trigger],
  ['adjust', 5, createPayment, adjust, (play, id) => adjust(play, id, {})],
  ['audit', 39, ageFunds, audit],
  ['audit, of the gateway', 75, ageFunds, auditOfGateway],
  ['sync', 11, syncThen(thenWait(creditPayment, 3_600_000)), sync],
  ['sync, posting', 34, syncThen(creditUnposted), sync],
  ['sync, finding a lost capture', 19, syncThen(payUpstream), sync],
  ['sync, of money that went back', 20, syncThen(thenWait(voidPayment, 3_600_000)), sync],
  ['sync, of a dispute that was won', 19, syncThen(thenWait(winDispute, 3_600_000)), sync],
  ['sync, by a worker that is woken', 18, syncThen(thenWait(payUpstream, 300_000)), wakeSync],
  ['refresh', 16, (play) => payUpstream(play), refresh],
]

/** Each new flow is added here. */
export const FLOWS: readonly Flow[] = [...PAYMENT_FLOWS, ...WEBHOOK_FLOWS, ...MONEY_FLOWS]

async function loseMessages(play: Play) {
  const id = await payUpstream(play)
  stopTriggers(play, { queueSendFails: 1 })
  await runUntil(play.world, callback(play, id))
  stopTriggers(play)
}

/**
 * A delivery that waits in its queue, which no worker reads, while its merchant's server has this
 * fault.
 */
function scheduleDelivery(faults?: Partial<Faults>): Prepare {
  return async (play) => {
    const event = sqsEvent([await scheduleMessage(play)])
    if (faults) stopTriggers(play, faults)
    return event
  }
}

async function scheduleMessage(play: Play, key?: string) {
  const { world } = play
  world.paused.add('webhooks')
  await creditPayment(play, key)
  const [message] = world.queues.webhooks.receive({ max: 1, nowMs: world.scheduler.nowMs() })
  if (!message) throw new Error('no delivery was sent')
  world.paused.delete('webhooks')
  return message
}

function scheduleToSlow(slow: boolean) {
  return async (play: Play) => {
    const message = await scheduleMessage(play)
    const body = JSON.parse(message.body) as {
      readonly client_id: string
      readonly endpoint_id: string
    }
    const key = { pk: `ENDPOINTS#${body.client_id}`, sk: `ENDPOINT#${body.endpoint_id}` }
    play.world.table.requests.write(
      update(key, { set: { slowSince: '2026-11-02T03:00:00.000Z' } }, exists),
    )
    return sqsEvent([{ ...message, body: JSON.stringify({ ...body, ...(slow && { slow }) }) }])
  }
}

/** An abandoned delivery that its merchant redelivers while no worker runs. */
async function abandonDelivery(play: Play) {
  const { delivery_id: id } = JSON.parse((await scheduleMessage(play)).body) as {
    readonly delivery_id: string
  }
  const change = {
    set: { status: 'skipped' },
    remove: ['nextAttemptAt', 'state', 'work', 'slot', 'dueAt'],
  }
  play.world.table.requests.write(update({ pk: `DELIVERY#${id}`, sk: 'DELIVERY' }, change, exists))
  return id
}

function redeliverOwn(play: Play, id: unknown, options: InvokeOptions = {}) {
  return requestAs(play.world, tenantOf(play), 'api-redeliver-webhook', { id: String(id) }, options)
}

async function reachLastAttempt(play: Play, ...keys: readonly string[]) {
  const { world } = play
  const first: object[] = []
  for (const key of keys) first.push(sqsEvent([await scheduleMessage(play, key)]))
  stopTriggers(play, { merchantFails: 1 })
  for (const event of first) await runUntil(world, invoke(world, 'deliver-webhook', event))
  // The waits of the second to the seventh attempt.
  await passTime(play, (60 + 120 + 240 + 480 + 960 + 1_920 + 60) * 1_000)
  world.paused.add('webhooks')
  await passTime(play, 3_840_000)
  const last = world.queues.webhooks.receive({ max: 10, nowMs: world.scheduler.nowMs() })
  if (last.length !== 2 * keys.length)
    throw new Error(`${last.length} deliveries are at their last attempt`)
  world.paused.delete('webhooks')
  return last.map((message) => sqsEvent([message]))
}

async function makeAlertsDue(play: Play) {
  for (const event of await reachLastAttempt(play, 'first', 'second', 'third'))
    await runUntil(play.world, invoke(play.world, 'deliver-webhook', event))
  stopTriggers(play)
  await passTime(play, 901_000)
}

function messageOf(body: object) {
  return sqsEvent([{ messageId: 'm', body: JSON.stringify(body) }])
}

async function ageFunds(play: Play) {
  await creditUnposted(play)
  await syncNow(play)
}

function syncNow({ world }: Play) {
  return runUntil(world, invoke(world, 'sync-provider-transactions', {}))
}

async function ageManyFunds(play: Play) {
  for (const key of ['first', 'second', 'third']) await creditPayment(play, key)
  await ageFunds(play)
}

async function auditSettlement(play: Play) {
  const id = await recordSettlement(play)
  await passTime(play, 61_000)
  const runAudit = (body: object) =>
    runUntil(play.world, invoke(play.world, 'audit-client', messageOf(body)))
  // In the simulation a run judges a few parts.
  for (let runs = 0; runs < 100 && !isAudited(play); runs++)
    await runAudit({ gateway: true, audit_id: auditIdOf(play) })
  await runAudit({ client_id: forClient(play).client_id })
  return id
}

/** Of the audit that the run before has begun. */
function auditIdOf({ world }: Play): unknown {
  return Object(world.table.item(verdictKey(GATEWAY_OWNER))?.['progress'])['auditId']
}

function isAudited({ world }: Play) {
  return world.table.item(verdictKey(GATEWAY_OWNER))?.['figures_at'] !== undefined
}

/** Answers the line of its payout file. */
async function batchSettlement(play: Play): Promise<unknown> {
  await auditSettlement(play)
  const made = await runUntil(play.world, operate(play.world, 'payout-file', {}))
  return Object(made?.body['file']).rows[1]
}

function lineOf(row: unknown): object {
  const cells: readonly string[] = Array.isArray(row) ? row : []
  const paid = { outcome: 'paid', bank_reference: 'b-1', bank_account_no: cells[7] }
  return { line: 2, settlement_id: cells[2], amount_minor: Number(cells[4]), ...paid }
}

async function recordSettlement(play: Play) {
  await ageFunds(play)
  await runUntil(play.world, operate(play.world, 'trigger-settlement', forClient(play)))
  const [settlement] = rowsOf(play.world, 'SETTLEMENT')
  if (settlement === undefined) throw new Error('nothing was settled')
  return text(settlement, 'settlement_id')
}

function onPrepared(name: string, more: object = {}) {
  return run(name, (_, id) => ({ ...onSettlement(id), ...more }))
}

function recordThen(...actions: readonly string[]): Prepare {
  return async (play) => {
    const id = await recordSettlement(play)
    for (const action of actions)
      await runUntil(play.world, operate(play.world, action, onSettlement(id)))
    return id
  }
}

async function approveRecredit(play: Play): Promise<unknown> {
  const id = await recordThen('mark-settlement-failed')(play)
  const approved = { action: 'recredit-settlement', payload: { settlement_id: id } }
  await runUntil(play.world, operate(play.world, 'approve', { ...approved, operator: 'approver' }))
  return id
}

function syncThen(prepare: Prepare): Prepare {
  return async (play) => {
    stopTriggers(play)
    await syncNow(play)
    return prepare(play)
  }
}

async function voidPayment(play: Play) {
  const id = await creditPayment(play)
  play.world.provider.reversePayment(upstreamOf(play, id).payment_request_id, { kind: 'voided' })
}

async function winDispute(play: Play) {
  const id = await creditPayment(play)
  const take = (kind: string) =>
    play.world.provider.reversePayment(upstreamOf(play, id).payment_request_id, { kind })
  take('chargeback')
  await passTime(play, HOUR_MS)
  await syncNow(play)
  take('chargeback_reversal')
}
