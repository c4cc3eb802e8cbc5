import { describe, expect } from 'vitest'
import { runSyncJobs } from '../../../shared/sync/sync-run.ts'
import { paymentOf, rowNow } from '../../support/synced-payment.ts'
import { syncTest as it, withBacklog } from './sync-test.ts'

describe('sync: the head by woken workers', () => {
  it('reads a page once when two workers are woken', async ({ deps, rows, paid }) => {
    const { listings, state } = await withBacklog(deps, rows, 0)
    rows.push(rowNow(deps, paid))
    const others: Promise<void>[] = []
    state.answer = () => {
      others.push(runSyncJobs(deps, { woken: true }))
      return undefined
    }

    await runSyncJobs(deps, { woken: true })
    await Promise.all(others)

    expect(listings).toHaveLength(1)
    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
  })

  it('reads new rows for deferred callbacks, but not within two minutes of a round', async ({
    deps,
    rows,
    paid,
  }) => {
    const { listings } = await withBacklog(deps, rows, 0)
    rows.push(rowNow(deps, paid))

    await runSyncJobs(deps, { woken: true })
    deps.clock.advance(119)
    await runSyncJobs(deps, { woken: true })

    expect(await paymentOf(deps, paid)).toMatchObject({ status: 'succeeded' })
    expect(listings).toHaveLength(1)
  })
})
