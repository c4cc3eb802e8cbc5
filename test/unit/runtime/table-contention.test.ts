import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import * as v from 'valibot'
import { beforeEach, describe, expect, it } from 'vitest'
import { ClientIdSchema } from '../../../shared/ids.ts'
import { exists } from '../../../shared/table/condition.ts'
import { clientKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { testDeps } from '../../support/test-deps.ts'

const aStep = () => update(clientKey(v.parse(ClientIdSchema, crypto.randomUUID())), { set: { name: 'x' } }, exists)

const cancelled = (...codes: readonly string[]) =>
  new TransactionCanceledException({
    message: 'cancelled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  })

// DynamoDB Local knows no other writers: it never raises any of these.
const client = mockClient(DynamoDBDocumentClient)
beforeEach(() => void client.reset())

describe('a write that meets others', () => {
  it('is tried again when it is a single one and met a transaction', async () => {
    const conflict = new TransactionConflictException({ message: 'conflict', $metadata: {} })
    client.on(UpdateCommand).rejectsOnce(conflict).rejectsOnce(conflict).resolves({})

    const outcome = await testDeps().table.write(aStep())

    expect(outcome.applied).toBe(true)
    expect(client.commandCalls(UpdateCommand)).toHaveLength(3)
  })

  it('is told of in one line, with how often it was tried again', async () => {
    const deps = testDeps()
    const conflict = new TransactionConflictException({ message: 'conflict', $metadata: {} })
    client.on(UpdateCommand).rejectsOnce(conflict).rejectsOnce(conflict).resolves({})

    await deps.table.write(aStep())
    await deps.table.write(aStep())

    expect(deps.lines).toStrictEqual([{ level: 'info', code: 'write.contended', fields: { retries: 2, gave_up: 0 } }])
  })

  it('says so when it gives up', async () => {
    const deps = testDeps()
    client.on(TransactWriteCommand).rejects(cancelled('TransactionConflict', 'None'))

    await expect(deps.table.transact({ one: aStep(), two: aStep() })).rejects.toThrow('cancelled')

    expect(deps.lines).toStrictEqual([{ level: 'warn', code: 'write.contended', fields: { retries: 11, gave_up: 1 } }])
  })

  it.each([
    [['None', 'TransactionConflict']],
    [['ThrottlingError', 'None']],
    [['ProvisionedThroughputExceeded', 'TransactionConflict']],
  ])('is tried again when it is a transaction cancelled by %j', async (codes) => {
    client
      .on(TransactWriteCommand)
      .rejectsOnce(cancelled(...codes))
      .resolves({})

    const outcome = await testDeps().table.transact({ one: aStep(), two: aStep() })

    expect(outcome.applied).toBe(true)
    expect(client.commandCalls(TransactWriteCommand)).toHaveLength(2)
  })

  it('is not tried again when a condition was refused beside the conflict', async () => {
    client.on(TransactWriteCommand).rejects(cancelled('TransactionConflict', 'ConditionalCheckFailed'))

    const outcome = await testDeps().table.transact({ one: aStep(), two: aStep() })

    expect(outcome).toStrictEqual({ applied: false, refusedBy: 'two', item: undefined })
    expect(client.commandCalls(TransactWriteCommand)).toHaveLength(1)
  })

  it.each([[['ValidationError', 'None']], [['ItemCollectionSizeLimitExceeded']], [['None']]])(
    'throws when it is a transaction cancelled by %j, which no try will change',
    async (codes) => {
      client.on(TransactWriteCommand).rejects(cancelled(...codes))

      await expect(testDeps().table.transact({ one: aStep(), two: aStep() })).rejects.toThrow(
        TransactionCanceledException,
      )

      expect(client.commandCalls(TransactWriteCommand)).toHaveLength(1)
    },
  )

  it('waits longer from try to try, with jitter, and never longer than 0.4 s', async () => {
    const waits: number[] = []
    const deps = testDeps({ random: () => 1, sleep: async (ms) => void waits.push(ms) })
    client.on(TransactWriteCommand).rejects(cancelled('TransactionConflict'))

    await deps.table.transact({ one: aStep() }).catch(() => undefined)

    expect(waits).toStrictEqual([20, 40, 80, 160, 320, 400, 400, 400, 400, 400, 400])
  })
})

describe('a refused condition', () => {
  it('is an outcome, and is not tried again', async () => {
    client
      .on(UpdateCommand)
      .rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {}, Item: { due_at: { S: 'then' } } }))

    const outcome = await testDeps().table.write(aStep())

    expect(outcome).toStrictEqual({ applied: false, item: { dueAt: 'then' } })
    expect(client.commandCalls(UpdateCommand)).toHaveLength(1)
  })
})
