/**
 * Goal: no single tampered amount, fee, status, time, count or sum goes unseen. Method: one client
 * that has been through everything; every attribute of every item of its books is changed or taken
 * away, one at a time, directly in the table; the audit must report the change and name the item.
 * The tests skip only the attributes that are listed here.
 */

import { beforeAll, describe, expect, it } from 'vitest'
import { eventNamesOf } from '../../../shared/audit/judged/judge-events.ts'
import { derivedUuid } from '../../../shared/ids.ts'
import { readDetails } from '../../../shared/payment/payment-details.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
import { fromItem, toItem } from '../../../shared/table/attributes.ts'
import { deflateText, inflateText } from '../../../shared/table/deflated-text.ts'
import { rawItem, tamperingsOf, type Unwitnessed, undetectedBy } from '../../support/tampering.ts'
import { memoryDeps } from '../../support/test-deps.ts'
import {
  eventRow,
  history,
  historyClientId,
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

/** Only the provider knows these ids; the sync compares them with the provider's transactions. */
const PROVIDER_IDS = [
  'details.provider',
  'details.payment_request_id',
  'details.provider_attempts',
  'credited_provider_payment_id',
]

/** No other row repeats these times. `test/unit/audit.test.ts` tests their limits. */
const TIMES = [
  'details.expires_at',
  'cancel_requested_at',
  'expiry_started_at',
  'provider_settled_at',
  'due_at',
  'final_fee.at',
]

/**
 * A payment without movements keeps an empty list. A payment without an event has fewer witnesses.
 */
const PAYMENT_GAPS: Unwitnessed = { loose: [...PROVIDER_IDS, ...TIMES], imprecise: ['movements'] }
const EVENTLESS_PAYMENT_GAPS: Unwitnessed = {
  loose: [...PAYMENT_GAPS.loose, 'details.payment_destination'],
  imprecise: [...PAYMENT_GAPS.imprecise, 'ended_at', 'listed_at'],
}
const PAYMENTS = ['settledActual', 'refunded', 'estimated', 'pending', 'failedPayment']

async function undetectedTamperings(
  place: Place,
  { loose = [], imprecise = [] }: Partial<Unwitnessed>,
  ids: readonly string[],
) {
  const tamperings = tamperingsOf(await rawItem(history.deps, await place()), { loose, imprecise })
  return undetectedBy(history.deps, historyClientId(), { tamperings, ids })
}

/** A payment's row with its details as they are stored. */
function withStoredDetails({ details, ...row }: Readonly<Record<string, unknown>>) {
  return details === undefined
    ? row
    : { ...row, details: deflateText(JSON.stringify(fromItem(Object(details)))) }
}

function settlementIds(name: keyof typeof history.settlements) {
  const { settlementId } = history.settlements[name]
  return [settlementId, derivedUuid('recredit', settlementId)]
}

/** The audit checks only that a shard's times are plausible: no other row repeats them. */
const SHARD_GAPS = { imprecise: ['closed_until', 'credited_at'] }
function shardIds(name: string) {
  return [String(shardOf(name)), historyClientId(), 'ledger']
}

describe('audit-ledger (design section 4, Audit) sees a tampered', () => {
  it.each(PAYMENTS)('payment: %s', async (name) => {
    const payment = paymentCalled(name)
    const unwitnessed = eventNamesOf(payment).length === 0 ? EVENTLESS_PAYMENT_GAPS : PAYMENT_GAPS
    // The audit may name the entry that repeats a field of the payment.
    const ids = [payment.paymentId, ...entriesOf(payment).map(({ entryId }) => entryId)]

    const row = await rawItem(history.deps, await paymentRow(name)())
    const details = toItem(readDetails(row['details']))
    const tamperings = tamperingsOf({ ...row, details }, unwitnessed).map((tampering) => ({
      ...tampering,
      item: withStoredDetails(tampering.item),
    }))
    expect(await undetectedBy(history.deps, historyClientId(), { tamperings, ids })).toStrictEqual(
      [],
    )
  })

  it.each([
    ...PAYMENTS.filter((name) => name !== 'pending').map((name) => [name, 0] as const),
    ['refunded', 1] as const,
  ])('event of: %s, number %d', async (payment, nth) => {
    // Each redelivery changes when the event expires.
    const {
      ttl: _,
      endpoint_ids: __,
      ...row
    } = await rawItem(history.deps, await eventRow(payment, nth)())
    const everything = { loose: [], imprecise: [] }
    const body = JSON.parse(String(inflateText(row['body']))) as typeof row
    const bodyTamperings = tamperingsOf(body, everything).map(({ name, item }) => ({
      name: `body.${name}`,
      item: { ...row, body: deflateText(JSON.stringify(item)) },
    }))
    const tamperings = [...tamperingsOf(row, everything), ...bodyTamperings]

    const ids = [paymentCalled(payment).paymentId]
    expect(await undetectedBy(history.deps, historyClientId(), { tamperings, ids })).toStrictEqual(
      [],
    )
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
    ['window', windowRow, { imprecise: ['closed_until'] }, () => [historyClientId(), '16']],
    [
      'shard with a settled payment',
      shardRow('settledActual'),
      SHARD_GAPS,
      () => shardIds('settledActual'),
    ],
    ['shard with a pending payment', shardRow('pending'), SHARD_GAPS, () => shardIds('pending')],
  ])('%s', async (_, place, unwitnessed, idsOf) => {
    expect(await undetectedTamperings(place, unwitnessed, idsOf())).toStrictEqual([])
  })
})
