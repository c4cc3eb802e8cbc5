/**
 * Goal: whatever a schedule, or a person, invokes a scheduled function with, it does its work and nothing else.
 * Method: payloads made of anything, on a world where nothing is due.
 */
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { handler as checkDueWork } from '../../../functions/schedule/check-due-work.ts'
import { handler as sweepSettlements } from '../../../functions/schedule/sweep-settlements.ts'
import { handler as syncProviderTransactions } from '../../../functions/schedule/sync-provider-transactions.ts'
import { hostileJson } from '../../support/hostile-values.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'

// Hundreds of runs each, on a machine that may be busy with other files.
vi.setConfig({ testTimeout: 120_000 })

const RUNS = { numRuns: 200 }

const SCHEDULES = {
  'check-due-work': { handler: checkDueWork, result: { event: 0, alert: 0, delivery: 0, payment: 0, failed: 0 } },
  'sweep-settlements': { handler: sweepSettlements, result: { clients: 1 } },
  'sync-provider-transactions': {
    handler: syncProviderTransactions,
    result: { transactions: 0, unanswered: 0, until: '2026-11-20T04:00:00.000Z', complete: true },
  },
}

describe('every scheduled function with any payload', () => {
  it.each(Object.entries(SCHEDULES))(
    '%s answers its summary and touches no payment',
    async (_, { handler, result }) => {
      const deps = memoryDeps()
      await aPendingPayment(deps, await aStoredClient(deps))
      const written = deps.changes.length

      await fc.assert(
        fc.asyncProperty(fc.oneof(hostileJson, fc.constant(undefined)), async (payload) => {
          const answer = await handler.withDeps(deps)(payload, {} as never)

          expect(answer).toStrictEqual(result)
          expect(deps.changes.slice(written).every(({ key }) => key.sk === 'SYNC')).toBe(true)
        }),
        RUNS,
      )
    },
  )
})
