import { TransactionInProgressException } from '@aws-sdk/client-dynamodb'
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect } from 'vitest'
import { exists, update } from '../../../shared/table/step.ts'
import { aConflict } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { aMockedTable } from './mocked-table.ts'

const it = testWith(aMockedTable, 'client', 'deps', 'waits')

describe('a transaction that still runs when it is sent again', () => {
  const running = new TransactionInProgressException({ message: 'in progress', $metadata: {} })
  const steps = () => ({ one: update({ pk: 'x', sk: 'x' }, { set: { name: 'x' } }, exists) })

  it('is sent with the same token until DynamoDB answers, for at least five seconds', async ({
    client,
    deps,
    waits,
  }) => {
    client.on(TransactWriteCommand).rejectsOnce(running).rejectsOnce(running).resolves({})

    expect(await deps.table.transact(steps())).toStrictEqual({ applied: true })
    expect(waits).toStrictEqual([1_000, 1_000])
    expect(tokensOf(client).size).toBe(1)
    expect(deps.lines).toStrictEqual([])

    client.on(TransactWriteCommand).rejects(running)
    await expect(deps.table.transact(steps())).rejects.toThrow(running)
    expect(waits.length - 2).toBeGreaterThanOrEqual(5)
  })

  it('has a token of its own after a conflict, which wrote nothing', async ({ client, deps }) => {
    client.on(TransactWriteCommand).rejectsOnce(aConflict()).resolves({})

    expect(await deps.table.transact(steps())).toStrictEqual({ applied: true })
    expect(tokensOf(client).size).toBe(2)
  })
})

function tokensOf(client: ReturnType<typeof aMockedTable>['client']) {
  const calls = client.commandCalls(TransactWriteCommand)
  return new Set(calls.map(({ args: [{ input }] }) => input.ClientRequestToken))
}
