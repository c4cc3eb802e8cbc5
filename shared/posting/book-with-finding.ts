import type { StoreDeps } from '../deps.ts'
import {
  bookedRow,
  type HouseEntry,
  onOpenDay,
  putHouseEntry,
  putOpenRow,
} from '../journal/house-store.ts'
import { recordSuspense, reportSuspense, type SuspenseDeps } from '../suspense/record-suspense.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { ensureSuspense, putSuspense } from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'

/**
 * Books an entry of the house together with its finding, once: if the finding exists already, the
 * entry alone. A transfer's case is told later if the row was booked before its payment was visible.
 */
export async function bookWithFinding(
  deps: StoreDeps & SuspenseDeps,
  entry: HouseEntry,
  finding: Suspense | undefined,
  other?: Suspense,
): Promise<void> {
  const { suspense, noted } = finding ? putSuspense(finding) : {}
  const more = other && ensureSuspense(other)
  const putEntry = entry.type === 'reversal' ? putHouseEntry : putOpenRow
  const write = (others: Steps<string>) =>
    onOpenDay(deps, (postedAt) =>
      deps.table.transact<string>({ ...putEntry({ ...entry, postedAt }), ...others }),
    )
  const outcome = await write({ suspense, noted, ...more })
  if (!outcome.applied && outcome.refusedBy === 'suspense') await write({ ...more })
  else if (outcome.applied && finding) await reportSuspense(deps, finding)
  else if (!outcome.applied && finding?.cause === 'transfer') await tellLater(deps, entry, finding)
}

/** The row was booked when its payment was not visible yet, so nobody was told of the transfer. */
async function tellLater(deps: StoreDeps & SuspenseDeps, entry: HouseEntry, transfer: Suspense) {
  const { correction, reversal } = await bookedRow(deps, entry)
  if (correction === undefined && reversal === undefined) await recordSuspense(deps, transfer)
}
