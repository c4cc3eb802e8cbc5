import { describe, expect, it } from 'vitest'
import { type FunctionSpec, MANIFEST } from '../../functions/manifest.ts'
import { reachableAccess } from '../support/reachable-access.ts'

const reachable = await reachableAccess(MANIFEST)

const stated = ({ table, sends, alerts, secrets, payerDefaults = false }: FunctionSpec) => ({
  table: table.toSorted(),
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
      table: access?.table.toSorted(),
      sends: access?.sends.toSorted(),
      secrets: access?.secrets.toSorted(),
    }).toStrictEqual(stated(spec))
  })

  it('is found at all: every kind of access is reached by some function', () => {
    const all = [...reachable.values()]

    expect(new Set(all.flatMap(({ table }) => table))).toStrictEqual(new Set(MANIFEST.flatMap(({ table }) => table)))
    expect(all.some(({ alerts }) => alerts)).toBe(true)
    expect(all.filter(({ payerDefaults }) => payerDefaults)).toHaveLength(1)
    expect(new Set(all.flatMap(({ secrets }) => secrets))).toStrictEqual(
      new Set(['read-provider', 'read-endpoints', 'manage-endpoints']),
    )
  })
})
