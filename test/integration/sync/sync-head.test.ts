import { describe, expect } from 'vitest'
import { shareSync, syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { addMs, DAY_MS, MINUTE_MS } from '../../../shared/time.ts'
import { findingAbout, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { behind, recordQuestions } from './asked-head.ts'
import { syncTest as it } from './sync-test.ts'

describe('sync: what the head reads', () => {
  it('reads the last seven days at first, in slices, up to now', async ({ deps, rows }) => {
    const { asked } = recordQuestions(deps, rows)

    const summary = await syncProviderTransactions(deps)

    expect(summary).toStrictEqual({ transactions: 0, unanswered: 0, until: deps.now(), complete: true })
    expect(asked).toHaveLength(28)
    expect(asked[0]).toMatchObject({ updatedFrom: addMs(deps.now(), -7 * DAY_MS) })
    expect(asked.at(-1)).toMatchObject({ updatedTo: deps.now() })
    expect(asked.slice(1).map(({ updatedFrom }) => updatedFrom)).toStrictEqual(
      asked.slice(0, -1).map(({ updatedTo }) => updatedTo),
    )
  })

  it('reads what came since, and two minutes more', async ({ deps, rows, credited }) => {
    await syncProviderTransactions(deps)
    const first = deps.now()
    const { asked } = recordQuestions(deps, rows)
    rows.push(rowNow(deps, credited, { updatedAt: addMs(first, -2 * MINUTE_MS) }))

    deps.clock.advance(300)
    await syncProviderTransactions(deps)

    expect(asked).toMatchObject([{ updatedFrom: addMs(first, -2 * MINUTE_MS), updatedTo: deps.now() }])
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
  })

  it('costs one question and a handful of writes where nothing happened', async ({ deps, rows }) => {
    const { asked } = await behind(deps, rows, 0)
    const before = deps.changes.length

    await syncProviderTransactions(deps)

    expect(asked).toHaveLength(1)
    // The head, its slice, its end, and the portion of the quota.
    expect(deps.changes.length - before).toBe(4)
  })

  it('notes a row that cannot be read, pages on after it and reads the others', async ({ deps, credited }) => {
    deps.provider.script('listTransactions', async ({ afterId, reversedOnly }) => ({
      kind: 'found',
      value:
        afterId === undefined && reversedOnly !== true
          ? { transactions: [], unreadableIds: ['txn_odd'], hasMore: true, afterId: 'txn_odd' }
          : { transactions: [rowNow(deps, credited)], hasMore: false },
    }))

    const summary = await syncProviderTransactions(deps)

    expect(summary.complete).toBe(true)
    expect(await findingAbout(deps, 'txn_odd', 'transaction_unexplained')).toMatchObject({ status: 'open' })
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual' })
  })

  it.for([
    [600, 9],
    [60_000, 13],
  ] as const)(
    'cuts slices by what the last ones held, and calls others where they take long, as many as a quota of %d calls feeds',
    async ([callsPerMinute, helpers], { deps, rows }) => {
      const { asked } = await behind(deps, rows, 3_100)
      await syncProviderTransactions(deps)
      const alone = asked.length
      deps.clock.advance(3_600)
      const { listTransactions } = deps.provider
      const slowly: typeof listTransactions = async (...page) => {
        await deps.sleep(1_000)
        return listTransactions(...page)
      }

      await syncProviderTransactions({
        ...deps,
        stage: { ...deps.stage, providerCallsPerMinute: callsPerMinute },
        provider: { ...deps.provider, listTransactions: slowly },
      })

      // 442 rows a minute and an hour: fourteen slices.
      expect(new Set(asked.slice(alone).map(({ updatedFrom }) => updatedFrom)).size).toBe(14)
      expect(deps.sent).toMatchObject(Array.from({ length: helpers }, () => ({ queue: 'sync', message: { body: {} } })))
    },
  )

  it('is woken for callbacks that were put off, no more often than rounds overlap', async ({ deps, rows, paid }) => {
    const { asked } = await behind(deps, rows, 0)
    rows.push(rowNow(deps, paid))

    await shareSync(deps, { woken: true })
    deps.clock.advance(119)
    await shareSync(deps, { woken: true })

    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
    expect(asked).toHaveLength(1)
  })
})
