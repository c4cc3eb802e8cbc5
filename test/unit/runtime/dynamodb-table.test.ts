import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { describe, expect } from 'vitest'
import { ClientIdSchema } from '../../../shared/ids.ts'
import { type TableRequests, withJoinedReads } from '../../../shared/runtime/aws/retrying-table.ts'
import { type Key, shardKey } from '../../../shared/table/keys.ts'
import { exists, guard, update } from '../../../shared/table/step.ts'
import { aConflict, testDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { aMockedTable } from './mocked-table.ts'

function aKey() {
  return shardKey(v.parse(ClientIdSchema, crypto.randomUUID()), 0)
}

const it = testWith(aMockedTable, 'client', 'deps', 'NAME')

it('reads of the table that decide are consistent (style guide); reads of an index cannot be', async ({
  client,
  deps,
  NAME,
}) => {
  client.resolves({})

  await deps.table.get(aKey())
  await deps.table.getFields(aKey(), ['body'])
  await deps.table.getMany([aKey()])
  await deps.table.getMany([aKey()], 'eventual')
  await deps.table.query({ partition: ['x'], limit: 1 })
  await deps.table.query({ index: 'by-owner', partition: ['x', 'payment'], limit: 1 })

  const gets = client.commandCalls(GetCommand).map(({ args: [{ input }] }) => input.ConsistentRead)
  // Fields that never change are read consistently only where they seem to be missing.
  expect(gets).toStrictEqual([true, false, true])
  const batches = client
    .commandCalls(BatchGetCommand)
    .map(({ args: [{ input }] }) => input.RequestItems?.[NAME])
  expect(batches).toMatchObject([{ ConsistentRead: true }, { ConsistentRead: false }])
  const queries = client
    .commandCalls(QueryCommand)
    .map(({ args: [{ input }] }) => input.ConsistentRead)
  expect(queries).toStrictEqual([true, false])
})

describe('a batch that DynamoDB leaves incomplete', () => {
  it('is retried until it is complete, and answers each key in the order asked', async ({
    client,
    deps,
    NAME,
  }) => {
    const [first, second, missing] = [aKey(), aKey(), aKey()]
    client
      .on(BatchGetCommand)
      .resolvesOnce({
        Responses: { [NAME]: [{ ...second, name: 'second' }] },
        UnprocessedKeys: { [NAME]: { Keys: [first] } },
      })
      .resolvesOnce({ Responses: { [NAME]: [{ ...first, name: 'first' }] } })

    const items = await deps.table.getMany([first, missing, second, first])

    expect(items.map((item) => item?.['name'])).toStrictEqual([
      'first',
      undefined,
      'second',
      'first',
    ])
    const asked = client
      .commandCalls(BatchGetCommand)
      .map(({ args: [{ input }] }) => input.RequestItems?.[NAME]?.Keys)
    expect(asked).toStrictEqual([[first, missing, second], [first]])
  })

  it('fails after eight tries, instead of reporting its items as missing', async ({
    client,
    deps,
    NAME,
  }) => {
    const key = aKey()
    client.on(BatchGetCommand).callsFake(() => {
      if (client.commandCalls(BatchGetCommand).length > 20) throw new Error('asked for ever')
      return { UnprocessedKeys: { [NAME]: { Keys: [key] } } }
    })

    await expect(deps.table.getMany([key])).rejects.toThrow(
      'a batch read is incomplete after 8 tries',
    )

    expect(client.commandCalls(BatchGetCommand)).toHaveLength(8)
  })
})

describe('withJoinedReads', () => {
  const joined = (batchGet: TableRequests['batchGet']) =>
    withJoinedReads({ ...testDeps().requests, batchGet })
  const keys = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({ pk: `DELIVERY#${from + at}`, sk: 'DELIVERY' }))

  it('joins reads of the same moment in one request, whose answer each read gets', async () => {
    const asked: (readonly Key[])[] = []
    const requests = joined(async (all) => {
      asked.push(all)
      return { items: all.slice(0, 2), unprocessed: all.slice(2) }
    })

    const answers = await Promise.all([
      requests.batchGet(keys(0, 2)),
      requests.batchGet(keys(1, 4)),
    ])

    expect(asked).toStrictEqual([keys(0, 4)])
    const whole = { items: keys(0, 2), unprocessed: keys(2, 4) }
    expect(answers).toStrictEqual([whole, whole])
  })

  it('sends reads of another consistency, of other fields, keys beyond one batch, and later reads apart', async () => {
    const asked: unknown[] = []
    const requests = joined(async (all, reads, fields) => {
      asked.push([all.length, reads, ...(fields ?? [])])
      return { items: [], unprocessed: [] }
    })

    const { batchGet } = requests
    const separate = [
      batchGet(keys(0, 60)),
      batchGet(keys(0, 1), 'eventual'),
      batchGet(keys(0, 1), 'consistent', ['pk']),
    ]
    await Promise.all([...separate, batchGet(keys(60, 101)), batchGet(keys(101, 102))])
    await batchGet(keys(0, 1))

    const [first, second, third] = [60, 42, 1].map((length) => [length, 'consistent'])
    const others = [
      [1, 'eventual'],
      [1, 'consistent', 'pk'],
    ]
    expect(asked).toStrictEqual([first, ...others, second, third])
  })

  it('fails for all joined reads, and for no later read', async () => {
    const failures = [new Error('throttled')]
    const requests = joined(async () => {
      const failure = failures.pop()
      if (failure) throw failure
      return { items: [], unprocessed: [] }
    })

    const first = await Promise.allSettled([
      requests.batchGet(keys(0, 1)),
      requests.batchGet(keys(1, 2)),
    ])

    expect(first.map(({ status }) => status)).toStrictEqual(['rejected', 'rejected'])
    expect(await requests.batchGet(keys(0, 1))).toStrictEqual({ items: [], unprocessed: [] })
  })
})

describe('a write that conflicts', () => {
  const aStep = () => update(aKey(), { set: { name: 'x' } }, exists)
  const twoSteps = () => ({ one: aStep(), two: aStep() })
  const conflict = aConflict()
  const cancelled = (...codes: readonly string[]) => {
    const CancellationReasons = codes.map((Code) => ({ Code }))
    return new TransactionCanceledException({
      message: 'cancelled',
      $metadata: {},
      CancellationReasons,
    })
  }

  it('is retried when a single write met a transaction, and logged in one line', async ({
    client,
    deps,
  }) => {
    client.on(UpdateCommand).rejectsOnce(conflict).rejectsOnce(conflict).resolves({})

    const outcomes = [await deps.table.write(aStep()), await deps.table.write(aStep())]

    expect(outcomes).toMatchObject([{ applied: true }, { applied: true }])
    expect(client.commandCalls(UpdateCommand)).toHaveLength(4)
    expect(deps.lines).toStrictEqual([
      { level: 'info', code: 'write.contended', fields: { retries: 2, gave_up: 0 } },
    ])
  })

  it('is refused if it is only a condition check', async ({ client, deps }) => {
    await expect(deps.table.write(guard(aKey(), exists))).rejects.toThrow(
      'only inside a transaction',
    )
    expect(client.calls()).toStrictEqual([])
  })

  it('logs that its retries are exhausted', async ({ client, deps }) => {
    client.on(TransactWriteCommand).rejects(cancelled('TransactionConflict', 'None'))

    await expect(deps.table.transact(twoSteps())).rejects.toThrow('cancelled')

    expect(client.commandCalls(TransactWriteCommand)).toHaveLength(12)
    expect(deps.lines).toStrictEqual([
      { level: 'warn', code: 'write.contended', fields: { retries: 11, gave_up: 1 } },
    ])
  })

  it.for([
    ['retried', ['None', 'TransactionConflict'], 2],
    ['retried', ['ThrottlingError', 'None'], 2],
    ['retried', ['ProvisionedThroughputExceeded', 'TransactionConflict'], 2],
    ['thrown at once', ['ValidationError', 'None'], 1],
    ['thrown at once', ['None'], 1],
  ] as const)(
    'is %s when a transaction is cancelled by %j',
    async ([, codes, tries], { client, deps }) => {
      const error = cancelled(...codes)
      client.on(TransactWriteCommand).rejectsOnce(error).resolves({})

      const outcome = await deps.table.transact(twoSteps()).catch((thrown: unknown) => thrown)

      expect(outcome).toStrictEqual(tries === 2 ? { applied: true } : error)
      expect(client.commandCalls(TransactWriteCommand)).toHaveLength(tries)
    },
  )

  it('is not retried when a condition refused it, alone or beside a conflict', async ({
    client,
    deps,
  }) => {
    const Item = { due_at: { S: 'then' } }
    client
      .on(UpdateCommand)
      .rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {}, Item }))
    client
      .on(TransactWriteCommand)
      .rejects(cancelled('TransactionConflict', 'ConditionalCheckFailed'))

    expect([await deps.table.write(aStep()), await deps.table.transact(twoSteps())]).toStrictEqual([
      { applied: false, item: { dueAt: 'then' } },
      { applied: false, refusedBy: 'two', item: undefined },
    ])
    expect(client.calls()).toHaveLength(2)
  })
})
