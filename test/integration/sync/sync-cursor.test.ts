import { describe, expect } from 'vitest'
import type { TransactionFilter, Unanswered } from '../../../shared/provider/provider.ts'
import { moveSyncCursor, readSyncCursor } from '../../../shared/sync/sync-cursor.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-provider-transactions.ts'
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS, type Timestamp } from '../../../shared/time.ts'
import { pageOfRows, settledRow } from '../../support/fake-provider.ts'
import { syncTest as it } from '../../support/sync-test.ts'
import { findingAbout, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { depsWithOwnTable, type TestDeps } from '../../support/test-deps.ts'

const foreignRow = (at: Timestamp) =>
  settledRow({ providerPaymentId: `inv-${crypto.randomUUID()}`, reference: 'order' }, at)

/** Every question for a page, and answers from somewhere else when `answer` has one. */
const recordQuestions = (deps: TestDeps, rows: Parameters<typeof pageOfRows>[0]) => {
  const asked: { readonly from: string; readonly to: string; readonly afterId: string | undefined }[] = []
  const state: { answer: ((question: number) => Unanswered | undefined) | undefined } = { answer: undefined }
  deps.provider.script('listTransactions', async (filter) => {
    asked.push({ from: filter.updatedFrom ?? '', to: filter.updatedTo ?? '', afterId: filter.afterId })
    return state.answer?.(asked.length) ?? { kind: 'found', value: pageOfRows(rows, filter) }
  })
  return { asked, state }
}

describe('sync: what it reads', () => {
  it('reads the last seven days at first, in spans, up to now', async ({ deps, rows }) => {
    const { asked } = recordQuestions(deps, rows)

    const summary = await syncProviderTransactions(deps)

    expect(summary).toStrictEqual({ transactions: 0, unanswered: 0, until: deps.now(), complete: true })
    expect(asked).toHaveLength(28)
    expect(asked[0]).toMatchObject({ from: addMs(deps.now(), -7 * DAY_MS) })
    expect(asked.at(-1)).toMatchObject({ to: deps.now() })
    expect(asked.slice(1).map(({ from }) => from)).toStrictEqual(asked.slice(0, -1).map(({ to }) => to))
  })

  it('reads the 24 hours before its cursor again: transactions appear late', async ({ deps, rows, credited }) => {
    await syncProviderTransactions(deps)
    const { asked } = recordQuestions(deps, rows)

    deps.clock.advance(23 * 3_600)
    await syncProviderTransactions(deps)
    const first = asked[0]
    deps.clock.advance(3_600)
    rows.push(rowNow(deps, credited, { updatedAt: addMs(deps.now(), -25 * HOUR_MS) }))
    await syncProviderTransactions(deps)

    expect(first).toMatchObject({ from: addMs(deps.now(), -48 * HOUR_MS) })
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
  })

  it('pages through a span to its end', async ({ deps, rows, credited }) => {
    // Oldest of all, so that it is on the last page.
    rows.push(rowNow(deps, credited, { updatedAt: addMs(deps.now(), -MINUTE_MS) }))
    for (let n = 0; n < 120; n++) rows.push({ ...foreignRow(deps.now()), status: 'pending' })
    const { asked } = recordQuestions(deps, rows)

    const summary = await syncProviderTransactions(deps)

    expect(summary).toMatchObject({ transactions: 121, complete: true })
    expect(asked.filter(({ to }) => to === deps.now()).map(({ afterId }) => afterId)).toStrictEqual([
      undefined,
      rows.at(-50)?.transactionId,
      rows.at(-100)?.transactionId,
    ])
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
  })

  it('notes a row that cannot be read, pages on behind it and reads the others', async ({ deps, credited }) => {
    deps.provider.script('listTransactions', async (filter) => ({
      kind: 'found',
      value:
        filter.afterId === undefined
          ? { transactions: [], unreadableIds: ['txn_odd'], hasMore: true, afterId: 'txn_odd' }
          : { transactions: [rowNow(deps, credited)], hasMore: false },
    }))

    const summary = await syncProviderTransactions(deps)

    expect(summary.complete).toBe(true)
    expect(await findingAbout(deps, 'txn_odd', 'transaction_unexplained')).toMatchObject({ status: 'open' })
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
  })
})

describe('sync: its cursor', () => {
  it.for([
    ['rate_limited', 'rate_limited'],
    ['unreachable', 'provider_silent'],
    ['server_error', 'provider_silent'],
    ['misconfigured', 'refused'],
    ['refused', 'refused'],
  ] as const)(
    'stays where it was when the list is %s, says %s, and the next run goes on there',
    async ([reason, end], { deps, rows, credited }) => {
      rows.push(rowNow(deps, credited))
      const { asked, state } = recordQuestions(deps, rows)
      state.answer = (question) => (question > 2 ? { kind: 'unanswered', reason } : undefined)

      const stopped = await syncProviderTransactions(deps)
      const cursor = await readSyncCursor(deps)
      state.answer = undefined
      const resumed = await syncProviderTransactions(deps)

      expect(stopped).toMatchObject({ complete: false, until: cursor?.position })
      expect(cursor?.position).toBe(asked[1]?.to)
      expect(asked).toHaveLength(3 + 26)
      expect(asked[3]?.from).toBe(cursor?.position)
      expect(resumed.complete).toBe(true)
      expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
      expect(deps.lines.filter(({ code }) => code === 'sync.completed')).toMatchObject([
        { level: 'warn', fields: { end } },
        { level: 'info', fields: { end: 'read' } },
      ])
    },
  )

  it('stays before a span in which the provider wants no more questions, whatever was done in it', async ({
    deps,
    rows,
    credited,
  }) => {
    rows.push(foreignRow(deps.now()), rowNow(deps, credited))
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'rate_limited' }))

    const stopped = await syncProviderTransactions(deps)

    expect(stopped).toMatchObject({ complete: false, transactions: 1 })
    expect((await readSyncCursor(deps))?.position).toBe(addMs(deps.now(), -6 * HOUR_MS))
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
  })

  it('is not held up by one transaction nobody can be asked about: what comes behind it is read', async ({
    deps,
    rows,
    credited,
  }) => {
    const odd = foreignRow(addMs(deps.now(), -10 * HOUR_MS))
    rows.push(odd, rowNow(deps, credited))
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'unreachable' }))

    const summary = await syncProviderTransactions(deps)
    deps.clock.advance(20 * 3_600)
    const next = recordQuestions(deps, rows)
    await syncProviderTransactions(deps)

    expect(summary).toMatchObject({ complete: true, unanswered: 1, until: addMs(deps.now(), -20 * HOUR_MS) })
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
    // 34 hours behind the cursor, the overlap plus ten hours: the odd one is among what is read again.
    expect(next.asked[0]?.from).toBe(addMs(deps.now(), -44 * HOUR_MS))
    expect((await readSyncCursor(deps))?.position).toBe(odd.updatedAt)
  })

  it('moves only on its old value: of 20 runs at once one reads to the end', async ({ deps }) => {
    const runs = await Promise.all(Array.from({ length: 20 }, () => syncProviderTransactions(deps)))

    expect(runs.filter(({ complete }) => complete).length).toBeGreaterThanOrEqual(1)
    expect(await readSyncCursor(deps)).toStrictEqual({ position: addMs(deps.now(), -DAY_MS) })
  })

  it.each([
    ['at its first move', undefined],
    ['later', addMs('2026-11-20T00:00:00.000Z' as Timestamp, 0)],
  ])('refuses to be moved by a run that another one has overtaken: %s', async (_, position) => {
    const deps = await depsWithOwnTable()
    const from = position && { position }
    if (from) await moveSyncCursor(deps, undefined, from)
    const moved = { position: deps.now() }
    await moveSyncCursor(deps, from, moved)

    const outcome = await moveSyncCursor(deps, from, { position: addMs(deps.now(), HOUR_MS) })

    expect(outcome.applied).toBe(false)
    expect(await readSyncCursor(deps)).toStrictEqual(moved)
  })

  it('makes progress in a backlog that no run can finish', async ({ deps, rows }) => {
    for (let hour = 1; hour <= 40; hour++) rows.push(foreignRow(addMs(deps.now(), -hour * HOUR_MS)))
    // A question about a single payment takes a minute, so ten of them are a run.
    deps.provider.script('getPayment', async () => {
      await deps.sleep(MINUTE_MS)
      return { kind: 'not_found' }
    })

    const runs = []
    for (let run = 0; run < 8 && !runs.at(-1)?.complete; run++) runs.push(await syncProviderTransactions(deps))

    expect(runs.length).toBeGreaterThan(4)
    expect(runs.at(-1)).toMatchObject({ complete: true })
    expect(deps.published).toHaveLength(40)
  })
})

describe('sync: the provider’s Rate-Limit headers', () => {
  it('waits as long as the provider’s headers say, and reads on where it was', async ({ deps, rows, credited }) => {
    rows.push(rowNow(deps, credited))
    const asked: TransactionFilter[] = []
    let roomAtMs = 0
    deps.provider.script('pauseMs', () => Math.max(0, roomAtMs - deps.monotonicMs()))
    deps.provider.script('listTransactions', async (filter) => {
      asked.push(filter)
      if (asked.length !== 3) return { kind: 'found', value: pageOfRows(rows, filter) }
      roomAtMs = deps.monotonicMs() + 45_000
      return { kind: 'unanswered', reason: 'rate_limited' }
    })
    const startedMs = deps.monotonicMs()

    const summary = await syncProviderTransactions(deps)

    expect(summary.complete).toBe(true)
    expect(deps.monotonicMs() - startedMs).toBe(45_000)
    expect(asked).toHaveLength(29)
    expect(asked[3]).toStrictEqual(asked[2])
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
  })

  it('waits before it asks about money while the provider wants no questions about it, and asks again behind a 429', async ({
    deps,
    rows,
    paid,
  }) => {
    rows.push(rowNow(deps, paid))
    let roomAtMs = deps.monotonicMs() + 10_000
    deps.provider.script('pauseMs', (operation) =>
      operation === 'getPayment' ? Math.max(0, roomAtMs - deps.monotonicMs()) : 0,
    )
    const shown = deps.provider.payments.get(paid.providerPaymentId)
    if (!shown) throw new Error('the provider has no such payment')
    const askedAtMs: number[] = []
    deps.provider.script('getPayment', async () => {
      askedAtMs.push(deps.monotonicMs())
      if (askedAtMs.length > 1) return { kind: 'found', value: shown }
      roomAtMs = deps.monotonicMs() + 5_000
      return { kind: 'unanswered', reason: 'rate_limited' }
    })
    const startedMs = deps.monotonicMs()

    await syncProviderTransactions(deps)

    expect(askedAtMs.map((at) => at - startedMs)).toStrictEqual([10_000, 15_000])
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
  })
})
