import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import { ownersOf } from '../table/keys.ts'
import type { Timestamp } from '../time.ts'

const OpenRow = v.object({ id: PaymentIdSchema })

/** A client's open payments that were paid by a time, oldest first, some of each part. The index suggests. */
export const openPaidBy = async (
  deps: Pick<Deps, 'table'>,
  {
    clientId,
    parts,
    paidBy,
    limit,
  }: {
    readonly clientId: ClientId
    readonly parts: number
    readonly paidBy: Timestamp
    readonly limit: number
  },
): Promise<readonly PaymentId[]> => {
  const pages = await Promise.all(
    ownersOf(clientId, parts).map((owner) =>
      deps.table.query({ index: 'by-open', partition: [owner], range: { atMost: paidBy }, limit }),
    ),
  )
  return pages.flatMap(({ items }) => items.map((item) => v.parse(OpenRow, item).id))
}
