import { describe, expect, it } from 'vitest'
import { checkDueWork } from '../../../shared/due-work/check-due-work.ts'
import type { ProviderOperation } from '../../../shared/provider/provider.ts'
import { pausesKey } from '../../../shared/table/keys.ts'
import { interceptTable } from '../../support/intercept-table.ts'

import { aFlood, expiredIn, messagesTo, oneOfEachKind, SLOT, work, workOn } from './due-flood.ts'

describe('the provider’s quota', () => {
  it('bounds how many payments are checked a minute, to the call, and no other kind', async () => {
    const { deps, payments } = await aFlood(200, 60)
    const startedMs = deps.monotonicMs()

    await workOn(deps, 'due-payments', SLOT)

    expect(deps.monotonicMs() - startedMs).toBeLessThanOrEqual(60_000)
    expect(expiredIn(deps, payments)).toBeGreaterThanOrEqual(50)
    expect(expiredIn(deps, payments)).toBeLessThanOrEqual(70)
    expect(deps.provider.calls.filter(({ operation }) => operation !== 'createRequest')).toHaveLength(
      expiredIn(deps, payments),
    )
  })

  it('leaves what it has no call for unclaimed, in its turn', async () => {
    const { deps, payments } = await aFlood(30, 60)
    const written = deps.changes.length
    const taken = ['cancelRequest', 'getRequest'] satisfies ProviderOperation[]
    deps.provider.script('pauseMs', (operation) => (taken.some((name) => name === operation) ? 90_000 : 0))

    await workOn(deps, 'due-payments', SLOT)

    expect(deps.provider.countOf('cancelRequest')).toBe(0)
    expect(deps.changes).toHaveLength(written)
    expect(expiredIn(deps, payments)).toBe(0)
  })

  it('is paused for everybody by the first 429, and asked on when the provider said', async () => {
    const { deps, payments } = await aFlood(100)
    let roomAtMs: number | undefined
    deps.provider.script('pauseMs', (operation) =>
      operation === 'cancelRequest' && roomAtMs !== undefined ? Math.max(0, roomAtMs - deps.monotonicMs()) : 0,
    )
    deps.provider.script('cancelRequest', async (id, timeoutMs) => {
      if (roomAtMs !== undefined) return deps.provider.healthy.cancelRequest(id, timeoutMs)
      roomAtMs = deps.monotonicMs() + 12_000
      return { kind: 'unanswered', reason: 'rate_limited' }
    })
    const asked: number[] = []
    const noted = interceptTable(deps, {
      before: async ({ name }) => {
        if (name === 'transact') asked.push(deps.monotonicMs())
      },
    })
    const startedMs = deps.monotonicMs()

    await workOn(noted, 'due-payments', SLOT)

    // Those of the first turn were on their way; everything else waited.
    const early = asked.filter((at) => at - startedMs < 12_000)
    expect(early.length).toBeLessThanOrEqual(5)
    expect(deps.memory.item(pausesKey)).toHaveProperty('cancel_request')
    expect(expiredIn(deps, payments)).toBe(99)
  })

  it('hangs without holding up another kind', async () => {
    const deps = await oneOfEachKind()
    const provider = Promise.withResolvers<{ readonly kind: 'not_found' }>()
    deps.provider.script('cancelRequest', () => provider.promise)
    await checkDueWork(deps)
    const hanging = work(deps, 'due-payments')

    await work(deps, 'due-events', 'due-deliveries', 'due-alerts')

    expect([deps.published.length, messagesTo(deps, 'webhooks').length]).toStrictEqual([1, 1])
    provider.resolve({ kind: 'not_found' })
    await hanging
  })
})
