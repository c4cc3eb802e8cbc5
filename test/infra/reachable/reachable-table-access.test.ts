import { describe, expect, it } from 'vitest'
import * as keys from '../../../shared/table/keys.ts'
import { sourcesIn } from '../../support/source-file.ts'
import { DOORS, KEY_BUILDERS, reachableTableAccess } from './reachable-table-access.ts'

/* That it finds what is reached: manifest-access.test.ts, function by function. Here: what it refuses to follow. */

/** A bundle as esbuild writes it, with the table's own modules and the given code of a store. */
const bundle = (code: string) => `
// shared/table/keys.ts
var clientKey = (id) => ({ pk: "CLIENT#" + id, sk: "CLIENT" });
var paymentKey = (id) => ({ pk: "PAYMENT#" + id, sk: "PAYMENT" });
var pausesKey = { pk: "QUOTA#pauses", sk: "QUOTA" };
var foundKey = (partition, key) => key;
// shared/table/list-items.ts
var listItems = async (deps, options) => deps.table.getMany(await deps.table.query(options));
// shared/table/list-items.ts
var queryPages = async function* (deps, input) { yield deps.table.query(input) };
// shared/table/step.ts
var put = (key, record) => ({ kind: "put", key, record });
var update = (key, changes) => ({ kind: "update", key, changes });
// shared/some-store.ts
${code}
`

const reached = (code: string) => reachableTableAccess(bundle(code))

describe('what the code of a bundle can reach', () => {
  it.each([
    ['is handed in from outside', '(deps, key) => deps.table.get(key)'],
    ['is partly handed in from outside', '(deps, keys) => deps.table.getMany([paymentKey(1), ...keys])'],
    ['is written out', '(deps, id) => deps.table.get({ pk: id, sk: "X" })'],
    ['is taken out of an item', '(deps, item) => put(item.key, {})'],
    ['is changed after it was built', '(id) => { let key = paymentKey(id); key = id; return update(key, {}) }'],
    ['is of a found item of any kind', '(deps, kind, item) => deps.table.get(foundKey(kind, item))'],
    ['is of an index that is not a literal', '(deps, index) => deps.table.query({ index, partition: [] })'],
    ['is of a query whose options come from outside', '(deps, options) => deps.table.query({ ...options })'],
    ['is of a query that says neither index nor partition', '(deps) => deps.table.query({ limit: 1 })'],
    ['is of a list of any kind', '(deps, kind) => listItems(deps, { kind, index: "by-owner" })'],
    ['is of a method that the port does not have', '(deps) => deps.table.scan()'],
  ])('refuses a key that %s', (_, code) => {
    expect(() => reached(`var f = ${code}`)).toThrow(
      /some-store.ts: .*(cannot be told|literal|not written out)|the table has no scan/,
    )
  })

  it.each([
    ['a step is', 'var f = (deps, keys) => keys.map((key) => [put, key])'],
    ['the table is, by its method,', 'var f = (deps, ids) => ids.map(clientKey).map(deps.table.get)'],
    ['the table is', 'var f = (deps, g) => g(deps.table)'],
    ['the table is, in other dependencies,', 'var f = (deps, g) => g({ table: deps.table })'],
    ['the table is, taken out of the dependencies,', 'var f = async ({ table }, id) => table.get(clientKey(id))'],
    ['the table is, as a name in quotes,', 'var f = (deps, id) => { const t = deps["table"]; return t }'],
    ['the table is, to a map that is not weak,', 'var m = new Map();\nvar f = (deps, it) => m.set(deps.table, it)'],
  ])('refuses to lose sight of a way to the table: %s handed on', (_, code) => {
    expect(() => reached(code)).toThrow('is handed on')
  })

  it('knows every door to the table: what takes a key or options, and no more', () => {
    // Steps can only be made by the doors that build them, and looking at a key touches nothing.
    const noDoors = ['transactWhileFresh', 'isSuspenseKey']
    const exported = sourcesIn('shared')
      .filter(({ path }) => path.startsWith('shared/table/'))
      .flatMap(({ text }) => [
        ...text.matchAll(/^export const (\w+) = (?:async )?(?:function\* )?(?:<[^>]*>)?\(([^=]*?)\)(?::|\s*=>)/gm),
      ])
      .filter(([, , parameters = '']) => /\bKey\b|\b\w+Input\b|\bSteps?\b/.test(parameters))
      .map(([, name = '']) => name)

    expect(exported.filter((name) => !noDoors.includes(name)).toSorted()).toStrictEqual(Object.keys(DOORS).toSorted())
  })

  it('knows every key builder by what it builds', () => {
    const builders = Object.keys(keys).filter((name) => /Key$|P[kK]s?$/.test(name) && !/^(is|found)/.test(name))

    expect([...KEY_BUILDERS.keys()].toSorted()).toStrictEqual(builders.toSorted())
    expect(new Set(KEY_BUILDERS.values())).toStrictEqual(new Set(keys.PARTITIONS))
  })
})
