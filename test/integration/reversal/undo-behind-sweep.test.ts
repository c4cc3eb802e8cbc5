/** Disputes that are won when a settlement was recorded without the payment (design section 10). */
import { describe, expect } from 'vitest'
import { paymentTimeline } from '../../../shared/inquiry/payment-timeline.ts'
import { minor } from '../../../shared/money.ts'
import { noteProviderSettled } from '../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { partOwedId } from '../../../shared/reversal/reversed-parts.ts'
import type { PaidPosition } from '../../../shared/settlement/paid-payments.ts'
import { providerFunding } from '../../../shared/settlement/provider-funding.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { statementPage } from '../../../shared/settlement/statement/statement-page.ts'
import { resolveSuspense } from '../../../shared/suspense/resolve-suspense.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { dispute, figures, owed, owedFor, statement, won } from '../../support/dispute-builders.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { aDayLater, aSucceededPayment, BY_OPERATOR, sweep, sweptNow } from '../../support/settlement-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { reversalTest } from './reversal-test.ts'

/** `leftOut` by the settlement of its window, or `inPart` given back after its settlement. */
const it = reversalTest
  .extend('leftOut', async ({ deps, paid }) => {
    await dispute(deps, paid.first)
    aDayLater(deps)
    return { ...paid, settlement: await sweptNow(deps, paid.client) }
  })
  .extend('inPart', async ({ deps, settled: { first } }) => {
    const part = { transactionId: `part_${first.paymentId}`, kind: 'refund', amountMinor: minor(20_000) } as const
    await reversePayment(deps, first, part)
    const suspenseId = partOwedId(part.transactionId)
    const recover = () => resolveSuspense(deps, { suspenseId, ...BY_OPERATOR, resolution: 'recovered' })
    return { first, suspenseId, recover }
  })

/** What operators are shown of it. */
const settledIn = async (deps: TestDeps, payment: Payment) => {
  const { timeline } = await paymentTimeline(deps, await paymentOf(deps, { payment }))
  return timeline.settlements.map(({ settlement_id: id }) => id)
}

describe('a dispute that is won when its window was swept without it', () => {
  it('is settled on the day it came again', async ({ deps, leftOut: { client, first, settlement } }) => {
    await won(deps, first)
    const waiting = await figures(deps, client)
    const tooYoung = await sweep(deps, client)
    const third = await aSucceededPayment(deps, client)
    aDayLater(deps)
    const next = await sweptNow(deps, client)

    expect(await settledIn(deps, first)).toStrictEqual([next.settlementId])
    expect(waiting).toStrictEqual([95_900, 0, 45_950, 0, 0])
    expect(tooYoung).toStrictEqual([])
    expect(next).toMatchObject({ grossMinor: 200_000, netMinor: 191_800, paymentCount: 2 })
    const stated = await statement(deps, next)
    expect(stated).toMatchObject({
      payments: [
        { payment_id: first.paymentId, paid_at: first.paidAt, reinstated_at: expect.any(String) },
        { payment_id: third.paymentId, reinstated_at: null },
      ].toSorted((a, b) => (a.payment_id < b.payment_id ? -1 : 1)),
    })
    expect(await statement(deps, settlement)).toMatchObject({ totals: { net_minor: 45_950 } })
  })

  it('is funded where it is settled, and nowhere else', async ({ deps, leftOut: { client, first, settlement } }) => {
    await noteProviderSettled(deps, first, deps.now())
    await won(deps, first)
    aDayLater(deps)

    const next = await sweptNow(deps, client)

    expect(next).toMatchObject({ netMinor: 95_900, paymentCount: 1 })
    expect(await providerFunding(deps, settlement, 5)).toMatchObject({ fundedMinor: 0, unfundedMinor: 46_000 })
    expect(await providerFunding(deps, next, 5)).toMatchObject({ fundedMinor: 96_000, unfundedMinor: 0 })
  })

  it('goes back again, and comes again, from where it stands', async ({ deps, leftOut: { client, first } }) => {
    await won(deps, first)

    await dispute(deps, first, 2)
    const gone = await figures(deps, client)
    await expectBalanced(deps, client.clientId)
    await won(deps, first, 2)
    const there = await figures(deps, client)
    await expectBalanced(deps, client.clientId)
    await dispute(deps, first, 3)
    aDayLater(deps)
    const nothing = await sweep(deps, client)
    await won(deps, first, 3)
    aDayLater(deps)
    const next = await sweptNow(deps, client)
    await dispute(deps, first, 4)

    expect([gone, there]).toStrictEqual([
      [0, 0, 45_950, 0, 0],
      [95_900, 0, 45_950, 0, 0],
    ])
    expect(nothing).toStrictEqual([])
    expect(next).toMatchObject({ netMinor: 95_900, paymentCount: 1 })
    expect(await findAnySettlement(deps, next.settlementId)).toMatchObject({ reversedNetMinor: 95_900 })
    expect(await owedFor(deps, first, 4)).toMatchObject({ amount_minor: 95_900, status: 'open' })
  })

  it('is found by a statement that is read in pages of one', async ({ deps, leftOut: { client, first } }) => {
    const before = await aSucceededPayment(deps, client)
    deps.clock.set(addMs(deps.now(), MINUTE_MS))
    await won(deps, first)
    deps.clock.set(addMs(deps.now(), MINUTE_MS))
    const behind = await aSucceededPayment(deps, client)
    aDayLater(deps)
    const settlement = await sweptNow(deps, client)

    const shown: string[] = []
    let after: PaidPosition | undefined
    do {
      const page = await statementPage(deps, settlement, { limit: 1, after })
      expect(page.payments.length).toBeLessThanOrEqual(1)
      shown.push(...page.payments.map(({ id }) => id))
      after = page.next
    } while (after)

    expect(shown).toStrictEqual([before, first, behind].map(({ paymentId }) => paymentId))
  })
})

describe('what is owed for parts of a payment whose dispute is won', () => {
  it('is owed again, and told again', async ({ deps, inPart: { first, suspenseId } }) => {
    await dispute(deps, first)

    await won(deps, first)

    expect(await findSuspense(deps, suspenseId)).toMatchObject({ status: 'open', amountMinor: 20_000 })
    expect(await deps.table.get({ pk: `SUSPENSE#${suspenseId}`, sk: 'SUSPENSE' })).toMatchObject({ work: 'alert' })
    expect((await paymentOf(deps, { payment: first })).reversal).toMatchObject({ amountMinor: 145_000 })
    await dispute(deps, first, 2)
    expect((await paymentOf(deps, { payment: first })).reversal).toMatchObject({ amountMinor: 145_000 })
    expect(await owed(deps, suspenseId)).toMatchObject({ resolution: 'left_out' })
  })

  it('stays recovered, and is told each time all goes back', async ({
    deps,
    inPart: { first, suspenseId, recover },
  }) => {
    await recover()
    await dispute(deps, first)

    await won(deps, first)
    await dispute(deps, first, 2)

    expect(await owed(deps, `${suspenseId}#left_out_though_closed`)).toMatchObject({ resolution: 'reinstated' })
    expect(await owed(deps, `${suspenseId}#left_out_though_closed#2`)).toMatchObject({ status: 'open' })
  })

  it('is told when it was given back in between', async ({ deps, inPart: { first, suspenseId, recover } }) => {
    await recover()
    await dispute(deps, first)
    const told = `${suspenseId}#left_out_though_closed`
    await resolveSuspense(deps, { suspenseId: told, ...BY_OPERATOR, resolution: 'refunded' })

    await won(deps, first)

    expect(await owed(deps, `${suspenseId}#undone_though_closed#won1_${first.paymentId}`)).toMatchObject({
      status: 'open',
      amount_minor: 20_000,
    })
  })
})
