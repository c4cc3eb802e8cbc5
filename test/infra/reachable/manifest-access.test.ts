/**
 * Goal: the manifest grants what a function needs, and nothing else. The simulation and the local
 * gateway refuse access that is not granted, but they do not see access that no function needs.
 * Method: each function is bundled as a deployment bundles it, without packages and without the
 * wiring of real dependencies. After dead code is removed, the bundle is the code that the function
 * can run. The function needs the access that this code uses.
 */
import { describe, expect, it } from 'vitest'
import type { FunctionSpec, SecretAccess } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { allAccess, TABLE_ACTIONS, type TableAction } from '../../../shared/table/access.ts'
import * as keys from '../../../shared/table/keys.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { matchesIn } from '../../support/document-blocks.ts'
import { sourcesIn } from '../../support/source-file.ts'
import { fieldsOfUpdates } from './fields-of-updates.ts'
import { functionBundles } from './function-bundles.ts'
import { ACCESS_POINTS, KEY_BUILDERS, reachableAccess } from './reachable-table-access.ts'
import { updatedFields } from './updated-fields.ts'

const SECRETS: readonly (readonly [SecretAccess, RegExp])[] = [
  // The adapter reads the provider's secret at run time, so a call of the port needs the secret.
  ['read-provider', /\bprovider\.\w+\(|\breadSecret\([^)]*\bproviderSecretName\(/],
  ['read-callback-tokens', /\breadSecret\([^)]*\bcallbackSecretName\(/],
]

function accessIn(code: string) {
  const { table, updates } = reachableAccess(code)
  const queueNames = matchesIn(code, /\bqueues\.send\(\s*(?:"([\w-]+)")?/g)
  if (queueNames.includes(''))
    throw new Error('a queue is not named by a literal, so its senders are unknown')
  return {
    table,
    updates: updatedFields(updates, fieldsOf),
    sends: [...new Set(queueNames)].toSorted(),
    alerts: /\balerts\.publish\(/.test(code),
    secrets: SECRETS.flatMap(([name, pattern]) => (pattern.test(code) ? [name] : [])).toSorted(),
    // A manifest entry states one of the two, so a function that could do both fails.
    endpointSecrets:
      [...new Set(matchesIn(code, /\bsealer\.(seal|unseal)\(/g))].join(' and ') || undefined,
    payerDefaults: /\bstage\.default(ReturnUrl|DisplayName)\b/.test(code),
  }
}

const fieldsOf = fieldsOfUpdates()
const reachable = new Map(
  [...(await functionBundles())].map(([name, code]) => [name, accessIn(code)]),
)

function statedAccess({
  table,
  updates,
  sends,
  alerts,
  secrets,
  endpointSecrets,
  payerDefaults = false,
}: FunctionSpec) {
  return {
    table: allAccess(table),
    updates,
    sends: sends.toSorted(),
    alerts,
    secrets: secrets.toSorted(),
    endpointSecrets,
    payerDefaults,
  }
}

describe('access stated in the manifest', () => {
  it.each(MANIFEST)('of $name is exactly what its code can reach', (spec) => {
    expect(reachable.get(spec.name)).toStrictEqual(statedAccess(spec))
  })

  it('deletes only endpoints, which move to another key: no function deletes history', () => {
    expect(new Set(MANIFEST.flatMap(({ table }) => table.DeleteItem ?? []))).toStrictEqual(
      new Set(['ENDPOINTS']),
    )
  })

  it('has a use of every partition, index and kind of secret', () => {
    const used = [...reachable.values()]
    const partitions = used.flatMap(({ table }) =>
      TABLE_ACTIONS.flatMap((action) => table[action] ?? []),
    )
    expect(new Set(partitions)).toStrictEqual(new Set(keys.PARTITIONS))
    expect(new Set(used.flatMap(({ table }) => table.indexes ?? []))).toStrictEqual(
      new Set(Object.keys(TABLE_SCHEMA.indexes)),
    )
    expect(new Set(used.flatMap(({ secrets }) => secrets))).toStrictEqual(
      new Set(SECRETS.map(([name]) => name)),
    )
  })
})

describe('what the code of a function can write of events and payments', () => {
  const WRITES = TABLE_ACTIONS.filter((action) => /^(Put|Update|Delete)/.test(action))
  const writesOf = (name: string, kind: keys.Partition) =>
    WRITES.filter((action) => reachable.get(name)?.table[action]?.includes(kind))
  const writersBy = (action: TableAction) =>
    MANIFEST.flatMap(({ name }) => (writesOf(name, 'EVENT').includes(action) ? [name] : []))

  it('a function that keeps an event changes its ttl alone, and nothing of its payment', () => {
    const keepers = writersBy('UpdateFields')

    expect(keepers).toStrictEqual([
      'api-redeliver-webhook',
      'api-redeliver-to-endpoint',
      'redeliver',
    ])
    for (const name of keepers) {
      expect(writesOf(name, 'EVENT'), name).toStrictEqual(['UpdateFields'])
      expect(reachable.get(name)?.updates.EVENT, name).toStrictEqual(['ttl'])
      expect(writesOf(name, 'PAYMENT'), name).toStrictEqual([])
    }
  })

  it('the webhook worker writes neither, and reads only the bytes of events', () => {
    const table = reachable.get('deliver-webhook')?.table ?? {}
    const used = TABLE_ACTIONS.flatMap((action) =>
      (table[action] ?? []).map((kind) => `${action} ${kind}`),
    )

    expect(used.filter((use) => / (EVENT|PAYMENT|SETTLEMENT)$/.test(use))).toStrictEqual([
      'GetFields EVENT',
    ])
  })

  it('only an erasure changes the bytes of an event; its work is on the payment too', () => {
    expect(writersBy('UpdateItem')).toStrictEqual(['erase-customer'])
    expect(writersBy('DeleteItem')).toStrictEqual([])
  })

  it('who puts an event ends a payment, moves or holds its money, settles, or recounts', () => {
    const announcers = writersBy('PutItem')

    expect(announcers.length).toBeGreaterThan(10)
    for (const name of announcers)
      expect([...writesOf(name, 'PAYMENT'), ...writesOf(name, 'SETTLEMENT')], name).not.toEqual([])
  })

  it('a cancel changes payments, and puts none', () => {
    expect(writesOf('api-cancel-payment', 'PAYMENT')).toStrictEqual(['UpdateItem'])
  })
})

function bundle(code: string) {
  return `
// shared/table/keys.ts
function clientKey(id) { return { pk: "CLIENT#" + id, sk: "CLIENT" } }
function paymentKey(id) { return { pk: "PAYMENT#" + id, sk: "PAYMENT" } }
var pausesKey = { pk: "QUOTA#pauses", sk: "QUOTA" };
function rowKeysOf(partition, key) { return key }
// shared/table/list-items.ts
async function listItems(deps, options) { return deps.table.getMany(await deps.table.query(options)) }
// shared/table/list-items.ts
async function* queryPages(deps, input) { yield deps.table.query(input) }
// shared/table/step.ts
function put(key, record) { return { kind: "put", key, record } }
function update(key, changes) { return { kind: "update", key, changes } }
// shared/some-store.ts
${code}
`
}

function reachedBy(code: string) {
  return reachableAccess(bundle(code)).table
}

describe('the search for the access of a bundle', () => {
  it.each([
    ['is a parameter', '(deps, key) => deps.table.get(key)'],
    ['is partly a parameter', '(deps, keys) => deps.table.getMany([paymentKey(1), ...keys])'],
    [
      'is returned before the last statement',
      'keyOf;\nfunction keyOf(id) { if (id) return id; return paymentKey(1) }\nupdate(keyOf(), {})',
    ],
    ['is written out', '(deps, id) => deps.table.get({ pk: id, sk: "X" })'],
    ['is a field of an item', '(deps, item) => put(item.key, {})'],
    [
      'is changed after it was built',
      '(id) => { let key = paymentKey(id); key = id; return update(key, {}) }',
    ],
    [
      'is of a found item of any kind',
      '(deps, kind, item) => deps.table.get(rowKeysOf(kind, item))',
    ],
    [
      'is of an index that is not a literal',
      '(deps, index) => deps.table.query({ index, partition: [] })',
    ],
    [
      'is of a query whose options come from outside',
      '(deps, options) => deps.table.query({ ...options })',
    ],
    [
      'is of a query that says neither index nor partition',
      '(deps) => deps.table.query({ limit: 1 })',
    ],
    ['is of a list of any kind', '(deps, kind) => listItems(deps, { kind, index: "by-owner" })'],
    ['is of a method that the port does not have', '(deps) => deps.table.scan()'],
  ])('refuses a key that %s', (_, code) => {
    expect(() => reachedBy(`var f = ${code}`)).toThrow(
      /some-store.ts: .*(is unknown|literal|not written out)|the table has no scan/,
    )
  })

  it.each([
    ['a step', 'var f = (deps, keys) => keys.map((key) => [put, key])'],
    ['a method of the table', 'var f = (deps, ids) => ids.map(clientKey).map(deps.table.get)'],
    ['the table', 'var f = (deps, g) => g(deps.table)'],
    ['the table, in other dependencies', 'var f = (deps, g) => g({ table: deps.table })'],
    [
      'the table, destructured from the dependencies',
      'var f = async ({ table }, id) => table.get(clientKey(id))',
    ],
    [
      'the table, by a name in quotes',
      'var f = (deps, id) => { const t = deps["table"]; return t }',
    ],
    ['the table, to a map', 'var m = new Map();\nvar f = (deps, it) => m.set(deps.table, it)'],
  ])('refuses code that hands on %s', (_, code) => {
    expect(() => reachedBy(code)).toThrow('is handed on')
  })

  it('knows every access point to the table: each function that takes a key or options', () => {
    // This function only looks at keys.
    const noAccessPoints = ['keyedItems']
    const exported = sourcesIn('shared')
      .filter(({ path }) => path.startsWith('shared/table/'))
      .flatMap(({ text }) => [
        ...text.matchAll(/^export (?:async )?function\*? (\w+)(?:<[^(]*>)?\(([^]*?)\)(?::| \{)/gm),
      ])
      .filter(([, , parameters = '']) => /\bKey\b|\b\w+Input\b|\bSteps?\b/.test(parameters))
      .map(([, name = '']) => name)

    expect(exported.filter((name) => !noAccessPoints.includes(name)).toSorted()).toStrictEqual(
      Object.keys(ACCESS_POINTS).toSorted(),
    )
  })

  it('knows every key builder by the key that it builds', () => {
    const builders = Object.keys(keys).filter(
      (name) => /Key$|P[kK]s?$/.test(name) && !name.startsWith('is'),
    )

    expect([...KEY_BUILDERS.keys()].toSorted()).toStrictEqual(builders.toSorted())
    expect(new Set(KEY_BUILDERS.values())).toStrictEqual(new Set(keys.PARTITIONS))
  })
})
