import { describe, expect } from 'vitest'
import { settlementStatement } from '../../../shared/settlement/statement/settlement-statement.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import {
  aDayLater,
  aSettledClient,
  fail,
  recredit,
  storeSucceeded,
  succeededPayment,
  sweptNow,
  withFloor,
} from '../../support/settlement-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { clientTest as it } from './client-test.ts'

/** A settlement of payments of 10,000, 10,001, ... rupiah, a millisecond apart. */
const settledPayments = async (deps: TestDeps, count: number) => {
  const client = await withFloor(deps)
  const payments = Array.from({ length: count }, (_, index) =>
    succeededPayment(client, { paidAt: addMs(deps.now(), index), notionalMinor: 10_000 + index }),
  )
  await storeSucceeded(deps, payments)
  deps.clock.set(addMs(deps.now(), 2 * DAY_MS))
  const settlement = await sweptNow(deps, client)
  return { client, payments, settlement, settlementId: settlement.settlementId }
}

const statement = (
  deps: TestDeps,
  settlementId: string,
  { cursor, format = 'json' }: { readonly cursor?: string; readonly format?: 'json' | 'csv' } = {},
) => settlementStatement(deps, { settlementId, cursor, format })

type Page = Awaited<ReturnType<typeof statement>>

const allPages = async (deps: TestDeps, settlementId: string, format: 'json' | 'csv'): Promise<readonly Page[]> => {
  const pages: Page[] = []
  let cursor: string | null | undefined
  do {
    const page: Page = await statement(deps, settlementId, { format, ...(cursor && { cursor }) })
    pages.push(page)
    cursor = page.cursor
  } while (cursor !== null)
  return pages
}

const linesOf = (page: Page | undefined) => (page && 'payments' in page ? page.payments : [])
const csvOf = (page: Page | undefined) => (page && 'csv' in page ? page.csv : '')

const encoded = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url')

describe('the statement of a settlement (design section 7)', () => {
  it('shows each payment, the totals, and how much of it the provider has paid us', async ({ deps }) => {
    const settledAt = addMs(deps.now(), 60_000)
    const first = deps.now()
    const { client, settlement } = await aSettledClient(deps, [
      { providerSettledAt: settledAt, providerFeeMinor: 4_440 },
    ])

    const { settlement: shown, ...rest } = await statement(deps, settlement.settlementId)

    const amounts = { gross_minor: 100_000, hexolus_markup_minor: 100, net_minor: 95_460 }
    expect(shown).toMatchObject({ id: settlement.settlementId, client_id: client.clientId, net_minor: 95_460 })
    expect(rest).toStrictEqual({
      totals: { ...amounts, xendit_fees_minor: 4_440, payment_count: 1 },
      provider_settled_minor: 95_560,
      provider_unsettled_minor: 0,
      payments: [
        {
          payment_id: expect.any(String),
          paid_at: first,
          ...amounts,
          xendit_fee_minor: 4_440,
          fee_status: 'actual',
          provider_settled_at: settledAt,
          reinstated_at: null,
        },
      ],
      cursor: null,
    })
    await expectBalanced(deps, client.clientId)
  })

  it('has the sums of the settlement and of what left pending, over all pages, in both formats', async ({ deps }) => {
    const { client, payments, settlement, settlementId } = await settledPayments(deps, 1_003)

    const json = await allPages(deps, settlementId, 'json')
    const csv = await allPages(deps, settlementId, 'csv')

    const lines = json.flatMap(linesOf)
    expect(json.map((page) => linesOf(page).length)).toStrictEqual([500, 500, 3])
    expect(lines.map(({ payment_id }) => payment_id)).toStrictEqual(payments.map(({ paymentId }) => paymentId))
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
    const sumOf = (column: 'gross_minor' | 'xendit_fee_minor' | 'hexolus_markup_minor' | 'net_minor') =>
      sum(lines.map((line) => line[column]))
    const sums = {
      grossMinor: sumOf('gross_minor'),
      providerFeesMinor: sumOf('xendit_fee_minor'),
      markupMinor: sumOf('hexolus_markup_minor'),
      netMinor: sumOf('net_minor'),
      paymentCount: lines.length,
    }
    expect(settlement).toMatchObject(sums)
    expect(sums.grossMinor - sums.providerFeesMinor - sums.markupMinor).toBe(sums.netMinor)
    expect(sum(payments.map(({ netMinor }) => netMinor))).toBe(sums.netMinor)

    const [header, ...rows] = csv.map(csvOf).join('').trimEnd().split('\n')
    expect(header).toBe(
      'payment_id,paid_at,gross_minor,xendit_fee_minor,hexolus_markup_minor,net_minor,fee_status,provider_settled_at,reinstated_at',
    )
    expect(rows).toStrictEqual(
      lines.map((line) =>
        Object.values(line)
          .map((value) => value ?? '')
          .join(','),
      ),
    )
    await expectBalanced(deps, client.clientId)
  })

  it('says on its first page what the provider still owes us, and counts for no other', async ({ deps }) => {
    const { settlementId } = await settledPayments(deps, 501)

    const [first, second] = await allPages(deps, settlementId, 'json')

    expect(first).toMatchObject({ provider_settled_minor: 0, provider_unsettled_minor: 501 * 6_000 + (500 * 501) / 2 })
    expect(second).not.toHaveProperty('provider_settled_minor')
    expect(second?.totals).toStrictEqual(first?.totals)
  })

  it('is the same for a failed settlement and for the one that replaces it', async ({ deps }) => {
    const { client, settlement, settlementId } = await settledPayments(deps, 3)
    await fail(deps, settlement)
    await recredit(deps, settlement)
    const again = await sweptNow(deps, client)

    const pages = [await statement(deps, settlementId), await statement(deps, again.settlementId)]

    expect(linesOf(pages[0])).toHaveLength(3)
    expect(linesOf(pages[1])).toStrictEqual(linesOf(pages[0]))
    expect(pages[1]?.totals).toStrictEqual(pages[0]?.totals)
    await expectBalanced(deps, client.clientId)
  })

  const TAMPERED: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['grossMinor', { notionalMinor: 10_001 }],
    ['providerFeesMinor', { providerFeeMinor: 3_999 }],
    ['markupMinor', { markupMinor: 11 }],
    ['netMinor', { netMinor: 5_991 }],
    ['grossMinor, providerFeesMinor, markupMinor, netMinor, paymentCount', { paidAt: '2026-11-19T00:00:00.000Z' }],
  ]
  it.for(TAMPERED)(
    'is refused when the payments differ in %s, and says not to pay it out',
    async ([what, set], { deps }) => {
      const { payments, settlementId } = await settledPayments(deps, 2)
      const [payment] = payments
      if (payment) await deps.table.write(update(paymentKey(payment.paymentId), { set }))

      await expect(statement(deps, settlementId)).rejects.toMatchObject({
        code: 'internal_error',
        message: `the payments do not add up to this settlement: ${what}`,
        actionHint: expect.stringContaining('Do not pay it out'),
      })
    },
  )
})

describe("a statement's cursor", () => {
  it('of another settlement is refused, of the same client or of another one', async ({ deps }) => {
    const mine = await settledPayments(deps, 501)
    const others = await settledPayments(testDeps(), 501)
    await storeSucceeded(deps, [succeededPayment(mine.client, { paidAt: deps.now() })])
    aDayLater(deps)
    const next = await sweptNow(deps, mine.client)
    const cursor = (await statement(deps, mine.settlementId)).cursor ?? ''

    for (const settlementId of [others.settlementId, next.settlementId]) {
      await expect(statement(deps, settlementId, { cursor })).rejects.toMatchObject({
        code: 'validation',
        fieldErrors: { cursor: ['must be the cursor of an earlier page of this statement'] },
      })
    }

    expect(linesOf(await statement(deps, mine.settlementId, { cursor }))).toHaveLength(1)
  })

  type Settled = Awaited<ReturnType<typeof settledPayments>>
  const position = ({ settlementId, settlement, payments }: Settled) => ({
    settlement_id: settlementId,
    paid_at: payments[0]?.paidAt,
    payment_id: payments[0]?.paymentId,
    sums: {
      grossMinor: settlement.grossMinor,
      providerFeesMinor: settlement.providerFeesMinor,
      markupMinor: settlement.markupMinor,
      netMinor: settlement.netMinor,
      paymentCount: settlement.paymentCount,
    },
  })
  const BAD: readonly (readonly [string, (settled: Settled) => string])[] = [
    ['is no text of ours', () => 'abc'],
    ['is empty', () => ''],
    ['is JSON of another shape', () => encoded({ page: 2 })],
    ['has a field more', (settled) => encoded({ ...position(settled), client_id: 'x' })],
    ['has no payment id', (settled) => encoded({ ...position(settled), payment_id: 'x' })],
    ['has no time', (settled) => encoded({ ...position(settled), paid_at: '2026-11-20' })],
    ['lies before', (settled) => encoded({ ...position(settled), paid_at: addMs(settled.settlement.periodStart, -1) })],
    ['lies at the end', (settled) => encoded({ ...position(settled), paid_at: settled.settlement.periodEnd })],
  ]
  it.for(BAD)('that %s is refused', async ([, cursorOf], { deps }) => {
    const settled = await settledPayments(deps, 1)

    const refused = statement(deps, settled.settlementId, { cursor: cursorOf(settled) })

    await expect(refused).rejects.toMatchObject({ code: 'validation', fieldErrors: { cursor: [expect.any(String)] } })
    expect(linesOf(await statement(deps, settled.settlementId, { cursor: encoded(position(settled)) }))).toHaveLength(0)
  })
})
