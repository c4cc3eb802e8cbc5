import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { AccessDenied, grantedDeps } from '../../../infra/local/functions/granted-deps.ts'
import type { TableAccess } from '../../../shared/table/access.ts'
import { TABLE_ACTIONS } from '../../../shared/table/access.ts'
import { exists } from '../../../shared/table/condition.ts'
import { PARTITIONS, pkPrefix } from '../../../shared/table/keys.ts'
import { check, put, remove, update } from '../../../shared/table/step.ts'
import type { Table } from '../../../shared/table/table.ts'
import { testDeps } from '../../support/test-deps.ts'

const [first] = MANIFEST
if (!first) throw new Error('the manifest is empty')

const granted = (table: TableAccess) => grantedDeps('local', { ...first, name: 'a-function', table }, testDeps()).table

const key = (partition: (typeof PARTITIONS)[number]) => ({
  pk: `${pkPrefix(partition)}${crypto.randomUUID()}`,
  sk: 'X',
})
const payment = key('PAYMENT')
const client = key('CLIENT')
const changes = { set: { a: 1 } }

/** Every way to the table, on a payment; and several keys or steps of which only one is a payment's. */
const REQUESTS: readonly (readonly [string, (table: Table) => Promise<unknown>])[] = [
  ['GetItem', (table) => table.get(payment)],
  ['BatchGetItem', (table) => table.getMany([client, payment])],
  ['PutItem', (table) => table.write(put(payment, {}))],
  ['UpdateItem', (table) => table.write(update(payment, changes))],
  ['DeleteItem', (table) => table.write(remove(payment, exists))],
  ['Query', (table) => table.query({ partition: [payment.pk], range: { beginsWith: client.pk }, limit: 1 })],
  ['PutItem', (table) => table.transact({ only: put(payment, {}) })],
  ['UpdateItem', (table) => table.transact({ first: update(client, changes), second: update(payment, changes) })],
  ['DeleteItem', (table) => table.transact({ none: undefined, only: remove(payment, exists) })],
  ['ConditionCheckItem', (table) => table.transact({ only: check(payment, exists) })],
]

describe('the table a manifest entry states', () => {
  it('lets stated items through, with their answer', async () => {
    const table = granted({ PutItem: ['PAYMENT'], GetItem: ['PAYMENT'] })

    await table.write(put(payment, { value: 1 }))
    const item = await table.get(payment)

    expect(item).toStrictEqual({ ...payment, value: 1 })
  })

  it.each(REQUESTS)('refuses %s on a kind of item that is not stated for it', async (action, request) => {
    const others = PARTITIONS.filter((partition) => partition !== 'PAYMENT')
    const everyAction = Object.fromEntries(TABLE_ACTIONS.map((other) => [other, PARTITIONS]))
    const table = granted({ ...everyAction, [action]: others })

    await expect(request(table)).rejects.toThrow(
      new AccessDenied(`a-function is not granted dynamodb:${action} on items PAYMENT# in functions/manifest.ts`),
    )
  })

  it('refuses an index that is not stated, and lets a stated one through', async () => {
    const table = granted({ indexes: ['by-owner'], Query: PARTITIONS })
    const byOwner = { index: 'by-owner', partition: ['nobody', 'payment'], limit: 1 } as const

    expect((await { table }.table.query(byOwner)).items).toStrictEqual([])
    await expect(
      { table }.table.query({ ...byOwner, index: 'by-status', partition: ['nobody', 'payment', 'paid'] }),
    ).rejects.toThrow('a-function is not granted dynamodb:Query on index by-status')
  })

  it('does not take a stated index for the table, nor the table for an index', async () => {
    const partition = [payment.pk]

    await expect({ table: granted({ indexes: ['by-owner'] }) }.table.query({ partition, limit: 1 })).rejects.toThrow(
      'Query on items PAYMENT#',
    )
    await expect(
      { table: granted({ Query: ['PAYMENT'] }) }.table.query({ index: 'by-due', partition: ['payment', 0], limit: 1 }),
    ).rejects.toThrow('Query on index by-due')
  })

  it('refuses a query whose partition it cannot see', async () => {
    const everything = granted(Object.fromEntries(TABLE_ACTIONS.map((action) => [action, PARTITIONS])))

    await expect(everything.query({ partition: [], limit: 1 })).rejects.toThrow(AccessDenied)
    await expect(everything.query({ partition: [5], limit: 1 })).rejects.toThrow('Query on items 5')
  })
})
