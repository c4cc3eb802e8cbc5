import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { ClientIdSchema } from '../../../shared/ids.ts'
import { all, atMost, equals, isNew } from '../../../shared/table/condition.ts'
import { shardKey } from '../../../shared/table/keys.ts'
import { put, remove, update } from '../../../shared/table/step.ts'
import { testDeps } from '../../support/test-deps.ts'

const aKey = () => shardKey(v.parse(ClientIdSchema, crypto.randomUUID()), 0)

describe('table.write', () => {
  it('stores fields under snake_case names and reads them back as they were', async () => {
    const deps = testDeps()
    const key = aKey()

    const outcome = await deps.table.write(put(key, { someField: 1, left: undefined }, isNew))

    expect(outcome).toStrictEqual({ applied: true, item: undefined })
    expect(await deps.table.get(key)).toStrictEqual({ ...key, someField: 1 })
  })

  it('answers the item as it was when a put is refused', async () => {
    const deps = testDeps()
    const key = aKey()
    await deps.table.write(put(key, { amount: 1 }, isNew))

    const outcome = await deps.table.write(put(key, { amount: 2 }, isNew))

    expect(outcome).toStrictEqual({ applied: false, item: { ...key, amount: 1 } })
  })

  it('answers the item as it is now when an update is applied, and no item when there was none to update', async () => {
    const deps = testDeps()
    const key = aKey()
    await deps.table.write(put(key, { amount: 1, gone: 'x' }, isNew))

    const applied = await deps.table.write(
      update(key, { set: { paidAt: 't' }, add: { amount: 2 }, remove: ['gone'] }, equals('amount', 1)),
    )
    const refused = await deps.table.write(update(aKey(), { set: { a: 1 } }, equals('amount', 1)))

    expect(applied).toStrictEqual({ applied: true, item: { ...key, amount: 3, paidAt: 't' } })
    expect(refused).toStrictEqual({ applied: false, item: undefined })
  })

  it('deletes only what meets the condition', async () => {
    const deps = testDeps()
    const key = aKey()
    await deps.table.write(put(key, { amount: 1 }, isNew))

    const refused = await deps.table.write(remove(key, equals('amount', 2)))
    const applied = await deps.table.write(remove(key, all(equals('amount', 1), atMost('amount', 1))))

    expect(refused).toStrictEqual({ applied: false, item: { ...key, amount: 1 } })
    expect(applied.applied).toBe(true)
    expect(await deps.table.get(key)).toBeUndefined()
  })
})

describe('table.transact', () => {
  it('writes nothing when one step is refused, and names that step with its item as it was', async () => {
    const deps = testDeps()
    const [first, second] = [aKey(), aKey()]
    await deps.table.write(put(second, { amount: 7 }, isNew))

    const outcome = await deps.table.transact({
      first: put(first, { amount: 1 }, isNew),
      left: undefined,
      second: put(second, { amount: 1 }, isNew),
    })

    expect(outcome).toStrictEqual({ applied: false, refusedBy: 'second', item: { ...second, amount: 7 } })
    expect(await deps.table.get(first)).toBeUndefined()
  })

  it('retries a conflict with another transaction until it is applied', async () => {
    const deps = testDeps()
    const client = mockClient(DynamoDBDocumentClient)
    const conflict = new TransactionCanceledException({
      message: 'conflict',
      $metadata: {},
      CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
    })
    client.on(TransactWriteCommand).rejectsOnce(conflict).rejectsOnce(conflict).resolves({})

    const outcome = await deps.table.transact({ only: put(aKey(), { amount: 1 }, isNew) })

    expect(outcome).toStrictEqual({ applied: true })
    expect(client.commandCalls(TransactWriteCommand)).toHaveLength(3)
    client.restore()
  })

  it('gives up on a conflict that does not end, instead of retrying for ever', async () => {
    const deps = testDeps()
    const client = mockClient(DynamoDBDocumentClient)
    client.on(TransactWriteCommand).rejects(
      new TransactionCanceledException({
        message: 'conflict',
        $metadata: {},
        CancellationReasons: [{ Code: 'TransactionConflict' }],
      }),
    )

    await expect(deps.table.transact({ only: put(aKey(), { amount: 1 }, isNew) })).rejects.toThrow(
      TransactionCanceledException,
    )

    expect(client.commandCalls(TransactWriteCommand)).toHaveLength(12)
    client.restore()
  })
})

describe('table.getMany and table.query', () => {
  it('answers items in the order asked, undefined for a missing one, and the same item for a repeated key', async () => {
    const deps = testDeps()
    const [one, two] = [aKey(), aKey()]
    await deps.table.write(put(one, { amount: 1 }, isNew))

    const items = await deps.table.getMany([two, one, one])

    expect(items.map((item) => item?.['amount'])).toStrictEqual([undefined, 1, 1])
  })

  it('pages through a partition with a cursor', async () => {
    const deps = testDeps()
    const clientId = v.parse(ClientIdSchema, crypto.randomUUID())
    for (let shard = 0; shard < 3; shard++) {
      await deps.table.write(put(shardKey(clientId, shard), { shard }, isNew))
    }
    const partition = [shardKey(clientId, 0).pk]

    const first = await deps.table.query({ partition, limit: 2 })
    const second = await deps.table.query({ partition, limit: 2, ...(first.cursor && { cursor: first.cursor }) })

    expect([...first.items, ...second.items].map((item) => item['shard'])).toStrictEqual([0, 1, 2])
    expect(second.cursor).toBeUndefined()
  })
})
