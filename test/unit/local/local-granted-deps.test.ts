import { describe, expect, it } from 'vitest'
import { DEFAULTS, type FunctionSpec } from '../../../functions/function-spec.ts'
import { AccessDenied, grantedDeps } from '../../../infra/local/functions/granted-deps.ts'
import { callbackSecretName, providerSecretName, type Secrets } from '../../../shared/secrets.ts'
import { TABLE_ACTIONS, type TableAccess } from '../../../shared/table/access.ts'
import { PARTITIONS, type Partition, pkPrefix } from '../../../shared/table/keys.ts'
import {
  absent,
  all as allOf,
  type Changes,
  type Condition,
  equals,
  exists,
  guard,
  put,
  remove,
  update,
  updateFields,
} from '../../../shared/table/step.ts'
import type { Table } from '../../../shared/table/table.ts'
import { testDeps } from '../../support/test-deps.ts'

function grantedTo(access: Partial<FunctionSpec>, secrets?: Secrets) {
  const all = testDeps({ ...(secrets && { secrets }) })
  const none = {
    ...DEFAULTS,
    name: 'a-function',
    entry: '',
    trigger: { kind: 'http-default' },
    table: {},
  } as const
  return { ...grantedDeps('local', { ...none, ...access }, all), all }
}

describe('the access a manifest entry states', () => {
  it('lets messages to its queues and its alerts through, and no others', async () => {
    const message = { body: {}, delaySeconds: 0, group: 'g' }
    const alert = { kind: 'delivery.abandoned', subject: 's', message: 'm' } as const
    const { queues, alerts, all } = grantedTo({ sends: ['webhooks'], alerts: true })

    await queues.send('webhooks', message)
    await alerts.publish(alert)

    await expect(queues.send('settlements', message)).rejects.toThrow(AccessDenied)
    await expect(grantedTo({}).alerts.publish(alert)).rejects.toThrow(AccessDenied)
    expect([all.sent, all.published]).toStrictEqual([[{ queue: 'webhooks', message }], [alert]])
  })

  const [key, tokens] = [providerSecretName('local'), callbackSecretName('local')]

  it.each([
    ['read-provider', key],
    ['read-callback-tokens', tokens],
  ] as const)('%s lets only the secret %s through', async (access, expected) => {
    const names: string[] = []
    const { secrets } = grantedTo(
      { secrets: [access] },
      { get: async (name) => void names.push(name) },
    )

    for (const name of [key, tokens, providerSecretName('prod'), 'gateway/local/origin']) {
      await secrets.get(name).catch((error: unknown) => expect(error).toBeInstanceOf(AccessDenied))
    }

    expect(names).toStrictEqual([expected])
  })

  it('lets a function seal secrets of endpoints, or unseal them, never both', async () => {
    const owner = { clientId: 'c', endpointId: 'e' }
    const sealing = grantedTo({ endpointSecrets: 'seal' })
    const unsealing = grantedTo({ endpointSecrets: 'unseal' })
    const neither = grantedTo({ secrets: ['read-provider', 'read-callback-tokens'] })
    const sealed = await sealing.sealer.seal('a secret', owner)

    expect(await unsealing.sealer.unseal(sealed, owner)).toBe('a secret')
    for (const { sealer } of [unsealing, neither])
      await expect(sealer.seal('x', owner)).rejects.toThrow(AccessDenied)
    for (const { sealer } of [sealing, neither])
      await expect(sealer.unseal(sealed, owner)).rejects.toThrow(AccessDenied)
  })
})

describe('the table a manifest entry states', () => {
  const updates = { CLIENT: ['a'], ENDPOINTS: ['slow_since'], EVENT: ['a'] }
  const grantedTable = (table: TableAccess) => ({ table: grantedTo({ table, updates }).table })
  const everything = Object.fromEntries(TABLE_ACTIONS.map((action) => [action, PARTITIONS]))
  const keyOf = (partition: Partition) => ({
    pk: `${pkPrefix(partition)}${crypto.randomUUID()}`,
    sk: 'X',
  })
  const [event, client, endpoint] = [keyOf('EVENT'), keyOf('CLIENT'), keyOf('ENDPOINTS')]
  const [changes, mark] = [{ set: { a: 1 } }, { set: { slowSince: 'now' } }]

  /**
   * Every request to the table on an event; a request of several keys or steps has one event.
   */
  it.each<[string, (table: Table) => Promise<unknown>]>([
    ['GetItem', (table) => table.get(event)],
    ['GetFields', (table) => table.get(event, ['body'])],
    ['Query', (table) => table.query({ partition: [event.pk], fields: ['body'], limit: 1 })],
    ['GetFields', (table) => table.getFields(event, ['body'])],
    ['BatchGetItem', (table) => table.getMany([client, event])],
    ['BatchGetFields', (table) => table.getMany([event], 'consistent', ['pk'])],
    ['PutItem', (table) => table.write(put(event, {}))],
    ['UpdateItem', (table) => table.write(update(event, changes))],
    ['UpdateFields', (table) => table.write(updateFields(event, changes, exists))],
    ['DeleteItem', (table) => table.write(remove(event, exists))],
    [
      'Query',
      (table) => table.query({ partition: [event.pk], range: { beginsWith: client.pk }, limit: 1 }),
    ],
    [
      'UpdateItem',
      (table) => table.transact({ first: update(client, changes), second: update(event, changes) }),
    ],
    ['DeleteItem', (table) => table.transact({ none: undefined, only: remove(event, exists) })],
    ['ConditionCheckItem', (table) => table.transact({ only: guard(event, exists) })],
  ])('refuses %s on a kind of item that is not stated for it', async (action, request) => {
    const others = PARTITIONS.filter((partition) => partition !== 'EVENT')
    // A function that may see an item may also update it without an answer.
    const seen = action === 'UpdateFields' && { UpdateItem: others }
    const { table } = grantedTable({ ...everything, ...seen, [action]: others })

    await expect(request(table)).rejects.toThrow(
      new AccessDenied(
        `a-function is not granted dynamodb:${action} on items EVENT#: add it to its entry in functions/manifest.ts`,
      ),
    )
  })

  it('lets the stated attributes of a kind of item be updated, and nothing of the item be seen', async () => {
    const { table } = grantedTable({ UpdateFields: ['ENDPOINTS'], PutItem: ['ENDPOINTS'] })
    const step = updateFields(endpoint, mark, allOf(exists, absent('slowSince')))

    await table.write(put(endpoint, { url: 'private' }))

    expect(await table.write(step)).toStrictEqual({ applied: true, item: undefined })
    expect(await table.write(step)).toStrictEqual({ applied: false, item: undefined })
  })

  it('lets all of an endpoint but its sealed secret be read, by key and by query', async () => {
    const { table } = grantedTable({
      GetFields: ['ENDPOINTS'],
      QueryFields: ['ENDPOINTS'],
      PutItem: ['ENDPOINTS'],
    })
    const page = { partition: [endpoint.pk], limit: 1 }
    await table.write(put({ ...endpoint, sk: 'READ' }, { url: 'u', sealedSecret: 's' }))

    expect(await table.get({ ...endpoint, sk: 'READ' }, ['url'])).toStrictEqual({ url: 'u' })
    expect((await table.query({ ...page, fields: ['url'] })).items).toStrictEqual([{ url: 'u' }])
    for (const fields of [['url', 'sealedSecret'], undefined]) {
      await expect(table.get(endpoint, fields)).rejects.toThrow(
        'not granted dynamodb:GetItem on items ENDPOINTS#',
      )
      const query = { ...page, ...(fields && { fields }) }
      await expect(table.query(query)).rejects.toThrow(
        'not granted dynamodb:Query on items ENDPOINTS#',
      )
    }
  })

  it('lets a client be read with its key, without the bank details', async () => {
    const { table } = grantedTable({ BatchGetFields: ['APIKEY', 'CLIENT'], PutItem: ['CLIENT'] })
    await table.write(put(client, { name: 'n', bank: { bankAccountNo: '1' } }))
    const read = (...fields: readonly string[]) =>
      table.getMany([keyOf('APIKEY'), client], 'consistent', fields)

    const [, found] = await read('revokedAt', 'name')
    expect(found).toStrictEqual({ ...client, name: 'n' })
    for (const reading of [read('name', 'bank'), read('payoutHold'), table.getMany([client])]) {
      await expect(reading).rejects.toThrow('not granted dynamodb:BatchGetItem on items')
    }
  })

  it.each<[string, Changes, Condition]>([
    ['sets another attribute', { set: { slowSince: 'now', url: 'x' } }, exists],
    ['sets an absent attribute', { setIfAbsent: { url: 'x' } }, exists],
    ['adds to another attribute', { add: { url: 1 } }, exists],
    ['removes another attribute', { remove: ['slowSince', 'url'] }, exists],
    ['compares another attribute', mark, allOf(exists, equals('url', 'x'))],
  ])('refuses an update that %s, with and without an answer', async (_, changed, condition) => {
    const { table } = grantedTable(everything)
    const step = update(endpoint, changed, condition)

    for (const one of [step, { ...step, returnsNothing: true } as const])
      await expect(table.write(one)).rejects.toThrow(
        /not granted dynamodb:Update(Item|Fields) on items ENDPOINTS# with url:/,
      )
  })

  it('allows only a stated index: no other index, not the table, and no index by access to the table', async () => {
    const partition = ['unknown-client', 'payment']
    const { table } = grantedTable({ indexes: ['by-owner'], Query: ['CLIENT'] })

    const found = await table.query({ index: 'by-owner', partition, limit: 1 })
    expect(found.items).toStrictEqual([])
    for (const [query, refusal] of [
      [{ index: 'by-status', partition: [...partition, 'paid'] }, 'Query on index by-status'],
      [{ index: 'by-due', partition: ['payment', 0] }, 'Query on index by-due'],
      [{ partition: [event.pk] }, 'Query on items EVENT#'],
    ] as const) {
      await expect(table.query({ ...query, limit: 1 })).rejects.toThrow(
        `a-function is not granted dynamodb:${refusal}`,
      )
    }
  })

  it.each([[[]], [[5]]])('refuses a query whose partition it cannot see: %j', async (partition) => {
    await expect(grantedTable(everything).table.query({ partition, limit: 1 })).rejects.toThrow(
      AccessDenied,
    )
  })
})
