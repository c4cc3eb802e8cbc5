import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { findAnySettlement, settlementRow } from '../../../shared/settlement/settlement-store.ts'
import { addBlock, emptySums, sumPages } from '../../../shared/settlement/sum-entries.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { exists, put } from '../../../shared/table/step.ts'
import { aSettledClient, payOut, settledAmount } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/**
 * Two settlements of one client, of which one is paid out. `end`: the end of the other's window
 * that can be moved over the paid one.
 */
export async function besidePaid(end: 'sweptFrom' | 'sweptUntil') {
  const { deps, client, settlement: first } = await aSettledClient()
  const second = await settledAmount(deps, client)
  const [paid, other] = end === 'sweptFrom' ? [first, second] : [second, first]
  await payOut(deps, paid)
  return {
    deps,
    client,
    paid,
    other,
    moveOver: () => moveWindow(deps, other, { [end]: paid[end] }),
  }
}

/** Gives a settlement another window, and the sums of the entries in that window. */
async function moveWindow(
  deps: TestDeps,
  { settlementId }: Pick<Settlement, 'settlementId'>,
  window: Partial<Pick<Settlement, 'sweptFrom' | 'sweptUntil'>>,
) {
  const moved = { ...(await findAnySettlement(deps, settlementId)), ...window }
  const span = { start: moved.sweptFrom, end: moved.sweptUntil }
  const start = { sums: emptySums(settlementId), remaining: [] }
  const { sums, remaining } = await sumPages(deps, { ...moved, span }, start)
  const row = settlementRow({ ...moved, ...addBlock(sums, remaining, span.start) })
  await deps.table.write(put(settlementKey(settlementId), { ...row }, exists))
}
