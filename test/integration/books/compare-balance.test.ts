/**
 * Goal: a provider that has more or less than the journal says is told after three days, and
 * nothing else is.
 */
import { describe, expect } from 'vitest'
import { handler as auditClients } from '../../../functions/schedule/audit-clients.ts'
import { minor } from '../../../shared/money.ts'
import { resolveSuspense } from '../../../shared/posting/resolve-suspense.ts'
import { recordFinding } from '../../../shared/suspense/record-suspense.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { bookRefund } from '../../support/money-rows.ts'
import { lambdaContext } from '../../support/operator-actions.ts'
import {
  anAssumedPayment,
  anOpenPayment,
  post,
  postAssumed,
  storeOpen,
  succeededPayment,
} from '../../support/paid-builders.ts'
import { aLoneClient, withoutFloor } from '../../support/settlement-builders.ts'
import { creditedPayment, rowNow } from '../../support/synced-payment.ts'
import {
  failingOn,
  interceptTable,
  recordTable,
  type TestDeps,
  withoutTopic,
} from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { compareNow } from './books-world.ts'

async function aWorld() {
  const { deps, client } = await aLoneClient()
  // 96,000 at the provider.
  await post(deps, await anOpenPayment(deps, client))
  const { showBalance: answer } = deps.provider
  answer(96_000)
  return { deps, client, answer }
}

const it = testWith(aWorld, 'deps', 'client', 'answer')

const DAY_SECONDS = 86_400
/** A page of clients takes longer than a run begins pages. */
const REQUEST_MS = 15_000

function isOfTransit({ kind }: { readonly kind: string }) {
  return kind === 'payment.in_transit'
}

/** Ten minutes pass, and the head reads the provider's rows. */
async function later(deps: TestDeps, compared = deps) {
  deps.clock.advance(600)
  await syncProviderTransactions(deps)
  return compareNow(compared)
}

describe('compare-balance (design section 12)', () => {
  it('asks once a day, and says nothing when the sums agree', async ({ deps }) => {
    expect(await compareNow(deps)).toStrictEqual({ day: '2026-11-20', gap_minor: 0 })
    expect(await later(deps)).toStrictEqual({ asked: false })
    deps.clock.advance(86_400)
    expect(await compareNow(deps)).toStrictEqual({ day: '2026-11-21', gap_minor: 0 })
    expect(deps.provider.countOf('getBalance')).toBe(2)
    expect(deps.published).toStrictEqual([])
  })

  it('waits for entries that follow within three rounds', async ({ deps, client, answer }) => {
    const paid = await creditedPayment(deps, client)
    answer(96_000 + 95_560)

    expect(await compareNow(deps)).toStrictEqual({ waits: true, gap_minor: 95_560 })
    expect(await compareNow(deps)).toStrictEqual({ waits: true })
    deps.provider.transactions.push(rowNow(deps, paid))
    expect(await later(deps)).toStrictEqual({ day: '2026-11-20', gap_minor: 0 })
  })

  it('ends a comparison after an hour, however few rounds it had', async ({ deps, answer }) => {
    answer(96_001)
    expect(await compareNow(deps)).toStrictEqual({ waits: true, gap_minor: 1 })
    deps.clock.advance(3_000)
    expect(await later(deps)).toStrictEqual({ day: '2026-11-20', gap_minor: 1 })
  })

  it('counts rows that were read and wait for their payment', async ({ deps, client, answer }) => {
    const open = await anOpenPayment(deps, client)
    await bookRefund(deps, open, 30_000)
    const odd = await creditedPayment(deps, client)
    deps.provider.transactions.push(
      rowNow(deps, odd, {
        amountMinor: minor(99_999),
        providerMinor: minor(95_999),
        keptMinor: minor(4_000),
      }),
    )
    await syncProviderTransactions(deps)
    answer(96_000 - 30_000 + 95_999)

    expect(await compareNow(deps)).toMatchObject({ gap_minor: 0 })
  })

  it.for([-1, 1])(
    'is an alert when a gap of %d stands on three days',
    async (gap, { deps, answer }) => {
      answer(96_000 + gap)
      const gapOfDay = async () => {
        await compareNow(deps)
        for (let rounds = 0; rounds < 2; rounds++)
          expect(await later(deps)).toStrictEqual({ waits: true, gap_minor: gap })
        return later(deps, withoutTopic(deps)).catch(() => later(deps))
      }
      for (const day of ['2026-11-20', '2026-11-21', '2026-11-22']) {
        expect(deps.published).toStrictEqual([])
        expect(await gapOfDay()).toStrictEqual({ day, gap_minor: gap })
        deps.clock.advance(86_400)
      }

      const message = expect.stringContaining(`today by ${gap} IDR`)
      expect(deps.published).toMatchObject([{ kind: 'balance.gap', message }])
      answer(96_000)
      expect(await compareNow(deps)).toMatchObject({ gap_minor: 0 })
      expect(deps.published).toHaveLength(1)
    },
  )

  it('names each week the payments whose own row has not come for 30 days', async ({
    deps,
    client,
  }) => {
    const late = await anAssumedPayment(deps, client)
    await recordFinding(deps, {
      subject: `${late.paymentId}#open`,
      cause: 'transaction_missing',
      payment: late,
    })
    const explained = await anAssumedPayment(deps, client)
    const paid = await creditedPayment(deps, client)
    await postAssumed(deps, paid.payment)
    await compareNow(deps)
    deps.clock.advance(29 * DAY_SECONDS)
    await later(deps)
    deps.clock.advance(7 * DAY_SECONDS)
    await resolveSuspense(deps, {
      suspenseId: `${explained.paymentId}#fee_assumed`,
      operator: 'ana',
      resolution: 'explained',
    })
    deps.provider.transactions.push(rowNow(deps, paid))

    for (let run = 0; run < 5; run++) await later(deps)
    expect(deps.published.filter(isOfTransit)).toHaveLength(1)
    deps.clock.advance(7 * DAY_SECONDS)
    const asked = () => deps.provider.countOf('getBalance')
    const before = asked()
    await expect(later(deps, withoutTopic(deps))).rejects.toThrow()
    expect(asked()).toBe(before + 1)
    expect(await later(deps)).toMatchObject({ waits: true })

    const told = deps.published.filter(isOfTransit)
    expect(told).toHaveLength(2)
    for (const { message } of told) expect(message).toContain(`(1 in all): ${late.paymentId}.`)
  })

  it('reads as often for many open payments as for one', async ({ deps, client }) => {
    const requestsOf = async (open: number) => {
      const payments = Array.from({ length: open }, () =>
        succeededPayment(client, { paidAt: deps.now() }),
      )
      await storeOpen(deps, payments)
      const { deps: recorded, calls } = recordTable(deps)
      expect(await compareNow(recorded)).toMatchObject({ gap_minor: 0 })
      deps.clock.advance(DAY_SECONDS)
      return calls.length
    }

    const ofOne = await requestsOf(1)

    expect(await requestsOf(600)).toBeLessThanOrEqual(ofOne)
  })

  it('continues a look that takes several runs, and asks when it has ended', async ({
    deps,
    client,
    answer,
  }) => {
    // Clients are read in the order of their registration.
    deps.clock.advance(1)
    for (let clients = 1; clients < 45; clients++) await withoutFloor(deps)
    const slow = interceptTable(deps, { before: () => deps.sleep(REQUEST_MS) })

    expect(await compareNow(slow)).toStrictEqual({ waits: true })
    expect(deps.lines.at(-1)).toMatchObject({ code: 'balance.waiting', fields: { looks: 0 } })
    deps.provider.silence('getBalance')
    expect(await compareNow(slow)).toStrictEqual({ asked: false })
    deps.provider.showBalance(0)
    expect(await compareNow(slow)).toStrictEqual({ waits: true })
    // The client is read already: only a later look sees this payment.
    await post(deps, await anOpenPayment(deps, client))
    answer(96_000 * 2)
    expect(await compareNow(slow)).toStrictEqual({ waits: true, gap_minor: 96_000 })
    expect(await compareNow(slow)).toStrictEqual({ waits: true })
    expect(await later(deps, slow)).toStrictEqual({ waits: true })
    expect(await compareNow(slow)).toStrictEqual({ day: '2026-11-20', gap_minor: 0 })
    expect(deps.provider.countOf('getBalance')).toBe(4)
  })

  it.for(['the provider does not answer', 'no look ends', 'every run fails', 'its rule is off'])(
    'is told by each daily audit while a day has no comparison: %s',
    async (why, { deps }) => {
      const compared = why === 'every run fails' ? failingOn(deps, 'get', 'before') : deps
      await compareNow(deps)
      if (why === 'no look ends') deps.provider.showBalance(1)
      if (why === 'the provider does not answer') deps.provider.silence('getBalance')
      // The sync's head never runs, so no further look begins.
      const told: number[] = []
      for (let runs = 0; runs < 4; runs++) {
        deps.clock.advance(DAY_SECONDS / 2)
        if (why !== 'its rule is off') await compareNow(compared).catch(() => undefined)
        await auditClients.withDeps(deps)({}, lambdaContext('audit-clients'))
        told.push(deps.published.length)
      }

      expect(told).toStrictEqual([0, 1, 2, 3])
      expect(deps.published[0]).toMatchObject({
        kind: 'balance.gap',
        message: expect.stringContaining('journal since 2026-11-20'),
      })
    },
  )

  it('asks again when the provider does not answer', async ({ deps }) => {
    deps.provider.silence('getBalance')
    expect(await compareNow(deps)).toStrictEqual({ asked: false })
    expect(await later(deps)).toStrictEqual({ asked: false })
    expect(deps.provider.countOf('getBalance')).toBe(2)
  })
})
