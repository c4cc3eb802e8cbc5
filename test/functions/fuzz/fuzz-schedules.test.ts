/**
 * Goal: a scheduled function does its work, and nothing else, for any payload of a schedule or a person.
 * Method: arbitrary payloads, on a world where nothing is due.
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { handler as auditClients } from '../../../functions/schedule/audit-clients.ts'
import { handler as checkDueWork } from '../../../functions/schedule/check-due-work.ts'
import { handler as sweepSettlements } from '../../../functions/schedule/sweep-settlements.ts'
import { handler as syncProviderTransactions } from '../../../functions/schedule/sync-provider-transactions.ts'
import { hostileJson } from '../../support/hostile-values.ts'
import { interceptTable, recordTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { runs } from '../../support/runs.ts'
import { testDeps } from '../../support/test-deps.ts'

const RUNS = { numRuns: runs(50) }

/** What each answers, and the fields of the messages that it sends. */
const SCHEDULES = {
  'check-due-work': { handler: checkDueWork, result: { alert: 0, delivery: 0, payment: 0, audit: 0 }, sent: [] },
  'audit-clients': { handler: auditClients, result: { clients: 1 }, sent: ['gateway', 'client_id'] },
  'sweep-settlements': { handler: sweepSettlements, result: { clients: 1 }, sent: ['client_id'] },
  'sync-provider-transactions': {
    handler: syncProviderTransactions,
    result: { transactions: 0, unanswered: 0, until: expect.any(String), complete: true },
    sent: [],
  },
}

describe('every scheduled function with any payload', () => {
  it.each(Object.entries(SCHEDULES))(
    '%s answers its summary and touches no payment',
    async (_, { handler, result, sent }) => {
      const deps = memoryDeps()
      await aPendingPayment(deps, await aStoredClient(deps))
      const written = deps.changes.length

      await fc.assert(
        fc.asyncProperty(fc.oneof(hostileJson, fc.constant(undefined)), async (payload) => {
          deps.sent.length = 0
          const answer = await handler.withDeps(deps)(payload, {} as never)

          expect(answer).toStrictEqual(result)
          expect(deps.sent.flatMap(({ message }) => Object.keys(message.body))).toStrictEqual(sent)
          expect(deps.changes.slice(written).every(({ key }) => ['SYNC', 'QUOTA'].includes(key.sk))).toBe(true)
        }),
        RUNS,
      )
    },
  )
})

const BROKEN = new ConditionalCheckFailedException({
  message: 'the item of budi@example.org',
  $metadata: {},
  Item: { email: { S: 'budi@example.org' } },
})

it.each(Object.entries(SCHEDULES))('%s begins nothing in a closed stage', async (_, { handler }) => {
  const { deps, calls } = recordTable(memoryDeps({ stage: { ...testDeps().stage, isClosed: true } }))

  await expect(handler.withDeps(deps)({}, {} as never)).rejects.toThrow('the stage is closed')
  expect(calls).toStrictEqual([])
})

describe('a scheduled run that breaks off', () => {
  it.each(Object.entries(SCHEDULES))(
    'of %s is written down, and fails without telling Lambda what the cause carries',
    async (functionName, { handler }) => {
      const deps = interceptTable(memoryDeps(), { before: () => Promise.reject(BROKEN) })

      const error: unknown = await handler
        .withDeps(deps)({}, { functionName } as never)
        .catch((thrown) => thrown)

      expect(error).toStrictEqual(new Error('the run failed; see its log for the cause'))
      expect(error).not.toHaveProperty('cause')
      const fields = { function: functionName }
      expect(deps.lines).toContainEqual({ level: 'error', code: 'invocation.failed', fields })
    },
  )
})
