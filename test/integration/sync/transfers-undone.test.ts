/**
 * Goal: a refund by transfer whose row is undone later is undone in the books too (design section
 * 12). Method: `refund-payment` takes the row over from the house, then the provider shows the row
 * with another status.
 */
import { expect } from 'vitest'
import { auditGateway } from '../../../shared/audit/audit-gateway.ts'
import { entriesIn } from '../../support/paid-builders.ts'
import { paymentOf, rowNow } from '../../support/synced-payment.ts'
import { sumsOf } from './held-money.ts'
import { syncTest } from './sync-test.ts'
import { refund, rowOut } from './transfer-rows.ts'

const it = syncTest
  .extend('refundBy', ({ deps, credited, sync }) => async (reference_id: string) => {
    await sync(rowNow(deps, credited))
    const row = rowOut(deps, { reference_id })
    await sync(row)
    const reply = await refund(deps, credited.payment.paymentId, row.transactionId)
    if (reply.status !== 200) throw new Error('the refund was not booked')
    return row
  })
  /** What the books say is at the provider. */
  .extend('atProvider', ({ deps, client }) => async () => {
    const entries = await entriesIn(deps, client)
    const house = await sumsOf(deps)
    return entries.reduce((sum, entry) => sum + entry.providerMinor, house['providerMinor'] ?? 0)
  })
  .extend('becomes', ({ deps, rows, syncAfter }) => {
    return async (row: ReturnType<typeof rowOut>, status: string) => {
      deps.clock.advance(600)
      const { transactionId: id, reference: reference_id, createdAt: created } = row
      rows.splice(rows.indexOf(row), 1, rowOut(deps, { id, status, reference_id, created }))
      await syncAfter(300)
      await syncAfter(60)
    }
  })

const NAMES: readonly (readonly [string, (id: string) => string])[] = [
  ['its payment', (id) => id],
  ['an attempt of its payment', (id) => `${id}-1`],
  ['an order', () => 'order-77'],
]
const cases = NAMES.flatMap(([name, referenceOf]) =>
  ['VOIDED', 'FAILED'].map((status) => [name, status, referenceOf] as const),
)

it.for(cases)(
  'a refund by a transfer that names %s is reversed when its row is %s',
  async ([, status, referenceOf], { deps, credited, refundBy, becomes, atProvider }) => {
    const row = await refundBy(referenceOf(credited.payment.paymentId))
    expect(await atProvider()).toBe(35_560)
    deps.published.length = 0

    await becomes(row, status)

    expect(await paymentOf(deps, credited)).toMatchObject({
      takenBackMinor: 0,
      movements: [{ type: 'refund' }, { type: 'reversal', transactionId: row.transactionId }],
    })
    expect(await atProvider()).toBe(95_560)
    expect(deps.published).toMatchObject([
      { subject: `${row.transactionId}#reversal#money_came_back` },
    ])
    expect((await auditGateway(deps)).differences).toStrictEqual([])
  },
)
