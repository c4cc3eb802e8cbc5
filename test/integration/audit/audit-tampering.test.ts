/**
 * Goal: no single tampered amount, fee, status, time, count or sum goes unseen. Method: one client that has been
 * through everything; every attribute of every item of its books is changed or taken away, one at a time, after the
 * gateway's back; the audit must say so and name the item. Only attributes listed here are passed over.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { eventNamesOf } from '../../../shared/audit/judged/audit-event.ts'
import { derivedUuid } from '../../../shared/ids.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
import { rawItem, tamperingsOf, type Unwitnessed, undetectedBy } from '../../support/tampering.ts'
import { memoryDeps } from '../../support/test-deps.ts'
import {
  clientId,
  eventRow,
  history,
  makeHistory,
  type Place,
  paymentCalled,
  paymentRow,
  settlementRow,
  shardOf,
  shardRow,
  windowRow,
} from './audited-history.ts'

beforeAll(() => makeHistory(memoryDeps()))

/** Only the provider knows these; the sync compares them with the provider's transactions. */
const PROVIDER_IDS = [
  'provider',
  'payment_request_id',
  'provider_attempts',
  'credited_provider_payment_id',
]

/** The borders of times that nothing else repeats: `test/unit/audit.test.ts`. */
const TIMES =
  'expires_at cancel_requested_at expiry_started_at provider_settled_at due_at final_fee.at'.split(
    ' ',
  )

/** An empty list of movements is kept of a payment that nothing has moved. A payment without an event has fewer witnesses. */
const OF_PAYMENT: Unwitnessed = { loose: [...PROVIDER_IDS, ...TIMES], imprecise: ['movements'] }
const OF_QUIET_PAYMENT: Unwitnessed = {
  loose: [...OF_PAYMENT.loose, 'payment_destination'],
  imprecise: [...OF_PAYMENT.imprecise, 'transitions.0.at', 'listed_at'],
}
const PAYMENTS = ['settledActual', 'refunded', 'estimated', 'pending', 'failedPayment']

/** The tamperings of a row that the audit does not see, or sees without naming one of `ids`. */
async function unseenIn(
  place: Place,
  { loose = [], imprecise = [] }: Partial<Unwitnessed>,
  ids: readonly string[],
) {
  const tamperings = tamperingsOf(await rawItem(history.deps, await place()), { loose, imprecise })
  return undetectedBy(history.deps, clientId(), { tamperings, ids })
}

function settlementIds(name: keyof typeof history.settlements) {
  const { settlementId } = history.settlements[name]
  return [settlementId, derivedUuid('recredit', settlementId)]
}

/** Its times are judged for sense: a credit leaves no other one. */
const OF_SHARD = { imprecise: ['closed_until', 'credited_at'] }
function shardIds(name: string) {
  return [String(shardOf(name)), clientId(), 'ledger']
}

describe('audit-ledger (design section 4, Audit) sees a tampered', () => {
  it.each(PAYMENTS)('payment: %s', async (name) => {
    const payment = paymentCalled(name)
    const unwitnessed = eventNamesOf(payment).length === 0 ? OF_QUIET_PAYMENT : OF_PAYMENT
    // A field that an entry repeats is named by the entry.
    const ids = [payment.paymentId, ...entriesOf(payment).map(({ entryId }) => entryId)]

    expect(await unseenIn(paymentRow(name), unwitnessed, ids)).toStrictEqual([])
  })

  it.each([
    ...PAYMENTS.filter((name) => name !== 'pending').map((name) => [name, 0] as const),
    ['refunded', 1] as const,
  ])('event of: %s, number %d', async (payment, nth) => {
    // When it goes is moved by each redelivery.
    const { ttl: _, ...row } = await rawItem(history.deps, await eventRow(payment, nth)())
    const everything = { loose: [], imprecise: [] }
    const body = JSON.parse(String(row['body'])) as typeof row
    const ofBody = tamperingsOf(body, everything).map(({ name, item }) => ({
      name: `body.${name}`,
      item: { ...row, body: JSON.stringify(item) },
    }))
    const tamperings = [...tamperingsOf(row, everything), ...ofBody]

    const ids = [paymentCalled(payment).paymentId]
    expect(await undetectedBy(history.deps, clientId(), { tamperings, ids })).toStrictEqual([])
  })

  it.each<[string, Place, Partial<Unwitnessed>, () => readonly string[]]>([
    [
      'settlement that failed',
      settlementRow('failed'),
      { loose: ['slot'] },
      () => settlementIds('failed'),
    ],
    [
      'settlement that is paid',
      settlementRow('paid'),
      { loose: ['slot'] },
      () => settlementIds('paid'),
    ],
    [
      'settlement that is recorded',
      settlementRow('recorded'),
      { loose: ['slot'] },
      () => settlementIds('recorded'),
    ],
    ['window', windowRow, { imprecise: ['closed_until'] }, () => [clientId(), '16']],
    [
      'shard with a settled payment',
      shardRow('settledActual'),
      OF_SHARD,
      () => shardIds('settledActual'),
    ],
    ['shard with a pending payment', shardRow('pending'), OF_SHARD, () => shardIds('pending')],
  ])('%s', async (_, place, unwitnessed, idsOf) => {
    expect(await unseenIn(place, unwitnessed, idsOf())).toStrictEqual([])
  })
})
