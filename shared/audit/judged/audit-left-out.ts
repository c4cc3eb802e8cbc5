import type { StoreDeps } from '../../deps.ts'
import type { Entry } from '../../journal/entry.ts'
import { findEntry } from '../../journal/entry-store.ts'
import { leftOutRecredit } from '../../settlement/left-out-recredit.ts'
import type { Settlement } from '../../settlement/settlement.ts'
import { type Difference, differs } from '../../verdict/difference.ts'
import { compareEntries } from './audit-entries.ts'

/** Each entry outside its settlement has its re-credit, with the same figures. */
export const auditLeftOut = async (
  deps: StoreDeps,
  settlement: Settlement,
  entries: readonly Entry[],
): Promise<readonly Difference[]> => {
  const { clientId, leftOut = [] } = settlement
  const found = await Promise.all(
    leftOut.map(async ({ entryId, type, netMinor, recreditedAt }) => {
      const entry = entries.find((one) => one.entryId === entryId)
      if (entry === undefined) return []
      const expected = leftOutRecredit(settlement, entry, recreditedAt)
      const recredit = await findEntry(deps, { clientId }, expected)
      return [
        ...differs('settlement.left_out.type', entryId, entry.type, type),
        ...differs('settlement.left_out.net_minor', entryId, entry.netMinor, netMinor),
        ...(recredit
          ? compareEntries(expected, recredit)
          : differs('entry', expected.entryId, `that of entry ${entryId}`, 'not there')),
      ]
    }),
  )
  return found.flat()
}
