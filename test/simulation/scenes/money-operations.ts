import { amount, type RawItem, sum, text } from '../../support/recount/books.ts'
import { type Reported, reportSituation } from '../sometimes/report-situation.ts'
import { operate } from '../world/lambda.ts'
import { entriesOf, rowsOf, windowRow } from '../world/rows.ts'
import { count } from '../world/tally.ts'
import { type World, waitFor } from '../world/world.ts'
import type { Scene } from './http.ts'

const STOPS: Readonly<Record<string, Reported>> = {
  unproven: 'a payout is stopped by money that no row proves',
  new_bank: 'a payout is stopped by new bank details',
  owed: 'a payout is stopped by a debt of its client',
  findings: 'a payout is stopped by open findings',
}

/** A refusal may say when to try again, or which figures need an approval. */
export async function payOutNow({ world }: Scene, settlement: RawItem) {
  const id = text(settlement, 'settlement_id')
  const asked = { settlement_id: id, bank_reference: `transfer of ${id}` }
  for (let tried = 0; tried < 4; tried++) {
    const first = await operate(world, 'mark-settlement-paid', asked, { isFalse: true })
    if (first?.status !== 422) return
    noteRefusal(world, first.body)
    const needsApproval = first.body['confirm'] !== undefined
    const reply = needsApproval ? await operate(world, 'mark-settlement-paid', asked) : first
    if (reply?.status !== 422) return
    const { retry_at: retryAt } = reply.body
    if (retryAt === undefined && !(await auditAsTold(world, reply.body))) return
    if (typeof retryAt === 'string')
      await waitFor(world, Math.max(0, Date.parse(retryAt) - world.scheduler.nowMs()) + 2_000)
  }
}

/** A refusal for want of an audit names the command. */
async function auditAsTold(world: World, { action_hint: hint }: RawItem) {
  const told = /^Run audit-ledger(?: --client_id (\S+))?\. Then repeat/.exec(String(hint))
  if (told) await operate(world, 'audit-ledger', told[1] ? { client_id: told[1] } : {})
  return told !== null
}

function noteRefusal(world: World, { message, confirm, retry_at: retryAt }: RawItem) {
  for (const name of Object.keys(Object(confirm))) {
    const stop = STOPS[name]
    if (stop) reportSituation(world, stop)
  }
  if (retryAt !== undefined) reportSituation(world, 'a payout waits for its audit')
  if (String(message).startsWith('payouts of this client are on hold'))
    reportSituation(world, 'a payout is stopped by a hold')
}

export async function payOut(scene: Scene) {
  const { world } = scene
  const recorded = recordedOf(world)
  if (recorded.length === 0) return
  const settlement = world.prng.pick(recorded)
  if (world.prng.chance(0.6)) return payOutNow(scene, settlement)
  const named = { settlement_id: text(settlement, 'settlement_id') }
  await operate(world, 'mark-settlement-failed', { ...named, notes: 'the bank refused it' })
  if (world.prng.chance(0.7))
    await operate(world, 'recredit-settlement', { ...named, notes: 'again' })
}

/** Fees are assumed on the seventh day, when most histories have no more operators. */
export async function payOutAssumed(scene: Scene) {
  for (const settlement of recordedOf(scene.world))
    if (amount(settlement, 'unproven_minor') > 0) await payOutNow(scene, settlement)
}

function recordedOf(world: World) {
  return rowsOf(world, 'SETTLEMENT', { status: 'recorded' })
}

/** The same transfer never pays out two settlements. */
export async function payOutTwice(scene: Scene) {
  const { world } = scene
  const [one, other] = recordedOf(world)
  if (one === undefined || other === undefined) return payOut(scene)
  const reference = { bank_reference: `one transfer of ${text(one, 'settlement_id')}` }
  const pay = ({ settlement_id }: RawItem) =>
    operate(world, 'mark-settlement-paid', { settlement_id, ...reference })
  const replies = await Promise.all([one, other].map(pay))
  if (replies.some((reply) => reply?.status === 409))
    reportSituation(world, 'a bank reference is used a second time')
  if (replies.every((reply) => reply?.status === 200))
    world.problems.push('one transfer has paid out two settlements')
}

export async function adjust({ world, tenants, scenePrng }: Scene) {
  const owing = tenants.filter(({ clientId }) => balanceOf(world, clientId) < 0)
  const { clientId } = scenePrng.pick(owing.length > 0 && scenePrng.chance(0.8) ? owing : tenants)
  const owed = -balanceOf(world, clientId)
  const kind = scenePrng.pick(['recovered', 'written_off', 'correction'])
  const booked = world.table.items('JOURNAL#house#')
  const rows = booked.filter(({ type }) => type === 'unmatched' || type === 'withdrawal')
  const isNamed = kind === 'correction' && scenePrng.chance(0.6) && rows.length > 0
  const row = isNamed && { provider_transaction_id: scenePrng.pick(rows)['transaction_id'] }
  const minor = owed > 0 ? scenePrng.int(1, owed) : scenePrng.int(1, 5_000)
  const asked = {
    client_id: clientId,
    kind,
    amount_minor: kind === 'correction' && scenePrng.chance(0.5) ? -minor : minor,
    reference: `adjustment-${scenePrng.int(1, 40)}`,
    ...row,
  }
  const calls = scenePrng.chance(0.3) ? [asked, asked] : [asked]
  const replies = await Promise.all(calls.map((call) => operate(world, 'adjust-ledger', call)))
  for (const reply of replies) count(world.tally, `adjusted: ${kind} ${reply?.status ?? 'nothing'}`)
  if (replies.some((reply) => reply?.status === 200))
    reportSituation(world, `an operator adjusts a ledger`)
  const ids = replies.map((reply) => reply?.body['id'])
  const written = entriesOf(world, clientId).filter(({ entry_id: id }) => ids.includes(id))
  if (replies.some((reply) => reply?.status === 200) && written.length !== 1)
    world.problems.push(`${asked.reference} of ${clientId} is ${written.length} entries`)
}

function balanceOf(world: World, clientId: string) {
  const shards = world.table
    .items(`LEDGER#${clientId}`)
    .filter(({ sk }) => String(sk).startsWith('SHARD#'))
  const window = windowRow(world, clientId)
  return (
    sum(shards, 'credited_minor') -
    amount(window, 'in_settlement_minor') -
    amount(window, 'paid_out_minor')
  )
}

export async function holdPayouts({ world, tenants }: Scene) {
  const about = { client_id: world.scenePrng.pick(tenants).clientId }
  await operate(world, 'update-client', { ...about, payout_hold: 'asked by its bank' })
  const waitMs = world.scenePrng.pick([60_000, 3_600_000, 90_000_000])
  world.scheduler.after(
    waitMs,
    () => void operate(world, 'update-client', { ...about, payout_hold: null }),
  )
}

const RESOLUTIONS = {
  money: ['refunded_by_bank', 'written_off'],
  finding: ['explained', 'explained'],
  case: ['answered', 'accepted'],
} as const

/** Sometimes two operators resolve the item at once, each in another way. */
export async function resolveSuspense({ world, prng }: Scene) {
  const listed = await operate(world, 'list-suspense', { status: 'open', per_page: 100 })
  const items = (listed?.body['data'] ?? []) as readonly (RawItem & {
    readonly suspense_id: string
    readonly kind: keyof typeof RESOLUTIONS
  })[]
  if (items.length === 0) return
  const transfers = items.filter(({ cause }) => cause === 'transfer')
  const item = prng.pick(transfers.length > 0 && prng.chance(0.6) ? transfers : items)
  const { suspense_id: id, kind, cause } = item
  if (cause === 'transfer' && prng.chance(0.8)) return refundByTransfer(world, item)
  const resolutions = RESOLUTIONS[kind]
  const resolve = (resolution: string) =>
    operate(world, 'resolve-suspense', {
      suspense_id: id,
      resolution,
      notes: `note ${prng.int(1, 9)}`,
    })
  const asked = prng.chance(0.4) ? resolutions : [prng.pick(resolutions)]
  const replies = await Promise.all(asked.map(resolve))
  const taken = replies.filter((reply) => reply?.status === 200).length
  if (taken > 0) count(world.tally, `suspense resolved: ${kind}`)
  // News may open a dispute again between two resolutions.
  if (taken > 1 && cause !== 'dispute') world.problems.push(`${id} was resolved by two operators`)
}

/** The row of the transfer is taken over, and the merchant gives its part back. */
async function refundByTransfer(world: World, item: RawItem) {
  const { payment_id, amount_minor, suspense_id: id } = item
  const row = { provider_transaction_id: String(id).replace(/#transfer$/, '') }
  const reply = await operate(world, 'refund-payment', { payment_id, amount_minor, ...row })
  if (reply?.status !== 200) return
  reportSituation(world, 'a transfer is booked as a refund')
  const stored = world.table.item({ pk: `SUSPENSE#${String(id)}`, sk: 'SUSPENSE' })
  if (stored?.['status'] !== 'resolved')
    world.problems.push(`${String(id)} is open after its refund`)
}
