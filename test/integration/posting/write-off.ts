import * as v from 'valibot'
import type { Client } from '../../../shared/client/client.ts'
import { UuidSchema } from '../../../shared/ids.ts'
import { newEntry } from '../../../shared/journal/entry.ts'
import { putEntry } from '../../../shared/journal/entry-store.ts'
import { figuresOf } from '../../../shared/journal/figures.ts'
import { adjustmentShard, moveCredit } from '../../../shared/ledger/shard-store.ts'
import { readWindow, writeOffInWindow } from '../../../shared/ledger/window-store.ts'
import { minor, ZERO } from '../../../shared/money.ts'
import { later } from '../../../shared/time.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/** The house gives up what a client owes, in one transaction. False when another change came first. */
export const writeOff = async (
  deps: TestDeps,
  { clientId }: Pick<Client, 'clientId'>,
  amountMinor: number,
): Promise<boolean> => {
  const { closedUntil, writtenOffMinor } = await readWindow(deps, clientId)
  const postedAt = later(deps.now(), closedUntil)
  const entry = newEntry({
    entryId: v.parse(UuidSchema, deps.newId()),
    type: 'written_off',
    eligibleAt: postedAt,
    postedAt,
    ...figuresOf(minor(amountMinor), ZERO, ZERO),
    providerMinor: ZERO,
    bankMinor: ZERO,
    suspenseMinor: ZERO,
  })
  const { applied } = await deps.table.transact({
    shard: moveCredit(adjustmentShard(clientId), minor(amountMinor), postedAt),
    window: writeOffInWindow(clientId, { readMinor: writtenOffMinor, addMinor: minor(amountMinor), postedAt }),
    entry: putEntry({ clientId }, entry),
  })
  return applied
}
