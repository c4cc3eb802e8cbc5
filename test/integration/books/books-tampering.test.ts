import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { handler as getBooks } from '../../../functions/admin/get-books.ts'
import { HOUSE_TOTALS_PK, journalPk, type Key, settlementKey } from '../../../shared/table/keys.ts'
import { present, remove } from '../../../shared/table/step.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { threeDays } from './books-world.ts'

const Checked = v.object({
  balanced: v.boolean(),
  differences: v.optional(v.array(v.object({ what: v.string(), id: v.string() })), []),
})

const checked = async (deps: TestDeps) => v.parse(Checked, (await invokeAdmin(getBooks, deps, {})).body)

/** The newest item of a partition. */
const lastOf = async (deps: TestDeps, pk: string): Promise<Key> => {
  const { items } = await deps.table.query({ partition: [pk], limit: 1, newestFirst: true })
  return { pk, sk: String(items[0]?.['sk']) }
}

const Total = v.looseObject({ netMinor: v.number(), providerMinor: v.number(), houseMinor: v.number() })

describe('get-books of rows that were altered', () => {
  it('finds nothing where nothing was', async () => {
    const deps = memoryDeps()
    await threeDays(deps)

    expect(await checked(deps)).toStrictEqual({ balanced: true, differences: [] })
  })

  it.each(['gross_minor', 'fee_minor', 'net_minor', 'provider_minor', 'bank_minor', 'suspense_minor', 'house_minor'])(
    'finds an unsettled entry whose %s is altered',
    async (name) => {
      const deps = memoryDeps()
      const { a } = await threeDays(deps)
      const entry = await rawItem(deps, await lastOf(deps, journalPk(a.clientId)))
      await putRaw(deps, { ...entry, [name]: Number(entry[name] ?? 0) + 1 })

      const { balanced, differences } = await checked(deps)

      expect(balanced).toBe(false)
      expect(differences.map(({ what }) => what)).toContain('entry.sides')
    },
  )

  it.each([
    ['one side', (total: v.InferOutput<typeof Total>) => [{ ...total, providerMinor: total.providerMinor + 1 }]],
    [
      'two sides by the same amount',
      (total: v.InferOutput<typeof Total>) => [
        { ...total, netMinor: total.netMinor + 1, houseMinor: total.houseMinor - 1 },
      ],
    ],
    ['all sides, taken away', () => []],
  ])('finds a stored total of a settlement that is altered: %s', async (_, altered) => {
    const deps = memoryDeps()
    const { settlementOfA } = await threeDays(deps)
    const settlement = await rawItem(deps, settlementKey(settlementOfA.settlementId))
    const [first, ...others] = v.parse(v.array(Total), settlement['totals'])
    if (first === undefined) throw new Error('the settlement has no totals')
    await putRaw(deps, { ...settlement, totals: [...altered(first), ...others] })

    const { balanced, differences } = await checked(deps)

    expect(balanced).toBe(false)
    expect(differences.some(({ id }) => id.startsWith(settlementOfA.settlementId))).toBe(true)
  })

  it.each(['gross_minor', 'provider_fees_minor', 'markup_minor', 'net_minor'])(
    'finds a settlement whose %s is altered',
    async (name) => {
      const deps = memoryDeps()
      const { settlementOfB } = await threeDays(deps)
      const settlement = await rawItem(deps, settlementKey(settlementOfB.settlementId))
      await putRaw(deps, { ...settlement, [name]: Number(settlement[name]) - 1 })

      const { balanced, differences } = await checked(deps)

      expect({ balanced, ids: differences.map(({ id }) => id) }).toStrictEqual({
        balanced: false,
        ids: [settlementOfB.settlementId],
      })
    },
  )

  it('finds a settlement that is gone', async () => {
    const deps = memoryDeps()
    const { settlementOfB: gone } = await threeDays(deps)
    await deps.table.write(remove(settlementKey(gone.settlementId), present('pk')))

    expect(await checked(deps)).toStrictEqual({
      balanced: false,
      differences: [{ what: 'settlement', id: gone.settlementId }],
    })
  })

  it.each(['provider_minor', 'bank_minor', 'suspense_minor', 'house_minor'])(
    'finds a total of the house whose %s is altered',
    async (name) => {
      const deps = memoryDeps()
      await threeDays(deps)
      const total = await rawItem(deps, await lastOf(deps, HOUSE_TOTALS_PK))
      await putRaw(deps, { ...total, [name]: Number(total[name]) + 1 })

      const { balanced, differences } = await checked(deps)

      expect({ balanced, what: differences.map(({ what }) => what) }).toStrictEqual({
        balanced: false,
        what: ['trial balance', 'house.totals'],
      })
    },
  )
})
