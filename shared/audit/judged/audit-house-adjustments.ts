import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import type { HouseEntry } from '../../journal/house-store.ts'
import { MinorSchema } from '../../money.ts'
import { HOUSE_SUBJECT, houseAdjustmentEntry } from '../../posting/adjust-house.ts'
import { type HouseAdjustment } from '../../posting/house-adjustment-store.ts'
import { HOUSE_ADJUSTMENTS_PK, houseEntryKey } from '../../table/keys.ts'
import { queryAll } from '../../table/list-items.ts'
import { GATEWAY_OWNER } from '../../table/schema.ts'
import { TimestampSchema } from '../../time.ts'
import { compare, type Difference, onlyIf, tryToMake } from '../../verdict/difference.ts'
import { rowDifferences } from '../rows/row-differences.ts'
import { readTrail } from './audit-trails.ts'

const Said = v.object({
  reference: v.string(),
  posted_at: TimestampSchema,
  bank_minor: MinorSchema,
  transit_minor: MinorSchema,
  cost_minor: MinorSchema,
  other_minor: MinorSchema,
  notes: v.nullish(v.string()),
})

/** Each adjustment of the house has its record, its row and its entry, and none has only some. */
export async function auditHouseAdjustments(
  deps: StoreDeps,
  entries: readonly HouseEntry[],
): Promise<readonly Difference[]> {
  const { records } = await readTrail(deps, HOUSE_SUBJECT, GATEWAY_OWNER)
  const items = await queryAll(deps, { partition: [HOUSE_ADJUSTMENTS_PK], limit: 1_000 })
  const rows = new Map(items.map((item) => [String(item['sk']), item]))
  const said = records.flatMap(({ after }) => adjustmentIn(after) ?? [])
  const references = new Set(said.map(({ reference }) => reference))
  const made = said.map((one) => tryToMake(() => houseAdjustmentEntry(one)))
  const stored = await deps.table.getMany(
    made.flatMap((entry) =>
      entry ? [houseEntryKey(entry.rowAt.slice(0, 10), entry.transactionId, entry.type)] : [],
    ),
  )
  const found = [
    ...rows.keys(),
    ...entries.flatMap(({ type, transactionId }) => (type === 'adjustment' ? transactionId : [])),
  ]
  return [
    ...said.flatMap((adjustment) =>
      rowDifferences(
        'house_adjustment',
        adjustment.reference,
        adjustment,
        rows.get(adjustment.reference),
      ),
    ),
    ...made
      .filter((entry) => entry !== undefined)
      .flatMap((entry, at) =>
        rowDifferences('house_entry', entry.transactionId, entry, stored[at]),
      ),
    ...[...new Set(found)].flatMap((reference) =>
      onlyIf(
        !references.has(reference),
        compare('house_adjustment', reference, 'recorded', 'not recorded'),
      ),
    ),
  ]
}

function adjustmentIn(after: object | undefined): HouseAdjustment | undefined {
  const said = ifValid(Said, after)
  return (
    said && {
      reference: said.reference,
      postedAt: said.posted_at,
      bankMinor: said.bank_minor,
      transitMinor: said.transit_minor,
      costMinor: said.cost_minor,
      otherMinor: said.other_minor,
      notes: said.notes ?? undefined,
    }
  )
}
