import { describe, expect, it } from 'vitest'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { allAccess, TABLE_ACTIONS } from '../../../shared/table/access.ts'
import { PARTITIONS } from '../../../shared/table/keys.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { reachableAccess } from './reachable-access.ts'

const reachable = await reachableAccess(MANIFEST)

const stated = ({ table, sends, alerts, secrets, payerDefaults = false }: FunctionSpec) => ({
  table: allAccess(table),
  sends: sends.toSorted(),
  alerts,
  secrets: secrets.toSorted(),
  payerDefaults,
})

describe('access stated in the manifest', () => {
  it.each(MANIFEST)('of $name is exactly what its code can reach', (spec) => {
    const access = reachable.get(spec.name)

    expect({
      ...access,
      sends: access?.sends.toSorted(),
      secrets: access?.secrets.toSorted(),
    }).toStrictEqual(stated(spec))
  })

  it('is found at all: every kind of access is reached by some function', () => {
    const all = [...reachable.values()]

    const tables = all.map(({ table }) => table)
    const partitions = tables.flatMap((table) => TABLE_ACTIONS.flatMap((action) => table[action] ?? []))

    expect(new Set(partitions)).toStrictEqual(new Set(PARTITIONS))
    expect(new Set(tables.flatMap(({ indexes = [] }) => indexes))).toStrictEqual(
      new Set(Object.keys(TABLE_SCHEMA.indexes)),
    )
    // Nothing is ever deleted: history is what disputes are settled with.
    expect(TABLE_ACTIONS.filter((action) => tables.some((table) => table[action]))).toStrictEqual(
      TABLE_ACTIONS.filter((action) => action !== 'DeleteItem'),
    )
    expect(all.some(({ alerts }) => alerts)).toBe(true)
    expect(all.filter(({ payerDefaults }) => payerDefaults)).toHaveLength(1)
    expect(new Set(all.flatMap(({ secrets }) => secrets))).toStrictEqual(
      new Set([
        'read-provider',
        'read-callback-tokens',
        'write-callback-tokens',
        'read-endpoints',
        'create-endpoints',
        'delete-endpoints',
      ]),
    )
  })
})
