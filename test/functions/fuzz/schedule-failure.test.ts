import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { handler as checkDueWork } from '../../../functions/schedule/check-due-work.ts'
import { handler as sweepSettlements } from '../../../functions/schedule/sweep-settlements.ts'
import { handler as syncProviderTransactions } from '../../../functions/schedule/sync-provider-transactions.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { testDeps } from '../../support/test-deps.ts'

const BROKEN = new ConditionalCheckFailedException({
  message: 'the item of budi@example.org',
  $metadata: {},
  Item: { email: { S: 'budi@example.org' } },
})

const outcomeOf = async (run: Promise<unknown>) => {
  try {
    return { answer: await run }
  } catch (error) {
    return { error }
  }
}

describe('a scheduled run that breaks off', () => {
  it.each([
    ['check-due-work', checkDueWork],
    ['sweep-settlements', sweepSettlements],
    ['sync-provider-transactions', syncProviderTransactions],
  ])(
    'of %s is written down, and fails without telling Lambda what the cause carries',
    async (functionName, handler) => {
      const deps = interceptTable(testDeps(), { before: () => Promise.reject(BROKEN) })

      const { error } = await outcomeOf(handler.withDeps(deps)({}, { functionName } as never))

      expect(error).toStrictEqual(new Error('the run broke off; its log says where'))
      expect(error).not.toHaveProperty('cause')
      expect(deps.lines).toContainEqual({
        level: 'error',
        code: 'invocation.failed',
        fields: { function: functionName },
      })
    },
  )
})
