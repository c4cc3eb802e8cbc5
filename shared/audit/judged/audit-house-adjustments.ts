import type { StoreDeps } from '../../deps.ts'
import type { HouseEntry } from '../../journal/house-store.ts'
import { HOUSE_SUBJECT, houseAdjustmentEntry } from '../../posting/adjust-house.ts'
import { HouseAdjustmentSchema } from '../../posting/house-adjustment-store.ts'
import { HOUSE_ADJUSTMENTS_PK, houseEntryKey } from '../../table/keys.ts'
import { queryAll } from '../../table/list-items.ts'
import { GATEWAY_OWNER } from '../../table/schema.ts'
import { type Difference, tryToMake } from '../../verdict/difference.ts'
import { recordedDifferences, rowDifferences } from '../rows/row-differences.ts'
import { readTrail } from './audit-trails.ts'
import { saidAs } from './derive-client.ts'

/** Each adjustment of the house has its record, its row and its entry, and none has only some. */
export async function auditHouseAdjustments(
  deps: StoreDeps,
  entries: readonly HouseEntry[],
): Promise<readonly Difference[]> {
  const { records } = await readTrail(deps, HOUSE_SUBJECT, GATEWAY_OWNER)
  const items = await queryAll(deps, { partition: [HOUSE_ADJUSTMENTS_PK], limit: 1_000 })
  const rows = new Map(items.map((item) => [String(item['sk']), item]))
  const said = records.flatMap(({ after }) => saidAs(HouseAdjustmentSchema, after) ?? [])
  const made = said.flatMap((one) => tryToMake(() => houseAdjustmentEntry(one)) ?? [])
  const stored = await deps.table.getMany(
    made.map((entry) => houseEntryKey(entry.rowAt.slice(0, 10), entry.transactionId, entry.type)),
  )
  const recorded = new Map(said.map((one) => [one.reference, one]))
  const booked = entries.flatMap((one) => (one.type === 'adjustment' ? one.transactionId : []))
  return [
    ...recordedDifferences('house_adjustment', recorded, rows, [...rows.keys(), ...booked]),
    ...made.flatMap((entry, at) =>
      rowDifferences('house_entry', entry.transactionId, entry, stored[at]),
    ),
  ]
}
