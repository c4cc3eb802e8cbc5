import type { ClientBooks } from '../audit/judged/client-books.ts'
import { mapInChunks } from '../chunks.ts'
import { bringForward, bringForwardByEntry } from './bring-forward.ts'
import { bringMoneyForward } from './bring-money-forward.ts'
import type { RecountBy, RecountDeps, Repair } from './repair.ts'
import { isOfStatus, type Strays } from './strays.ts'

/** Plans the repair of payments whose events or entries show more than their row. One by one, for the quota. */
export const planForward = async (
  deps: RecountDeps,
  by: RecountBy,
  { books, strays: { events, entries } }: { readonly books: ClientBooks; readonly strays: Strays },
): Promise<readonly Repair[]> => {
  const ended = await mapInChunks(events.filter(isOfStatus), 1, (stray) => bringForward(deps, by, stray))
  const moving = events.filter((stray) => !isOfStatus(stray))
  const ids = new Set([
    ...entries.map(({ paymentId }) => paymentId),
    ...moving.map(({ payment: { paymentId } }) => paymentId),
  ])
  const moved = await mapInChunks([...ids], 1, (paymentId) =>
    bringMoneyForward(deps, by, {
      paymentId,
      books,
      strays: {
        entries: entries.filter((one) => one.paymentId === paymentId),
        events: moving.filter(({ payment }) => payment.paymentId === paymentId),
      },
    }),
  )
  const repairs = [...ended, ...moved].flatMap((one) => one ?? [])
  const subjects = new Set<string>(repairs.map(({ subject }) => subject))
  const rest = Map.groupBy(
    entries.filter(({ paymentId }) => !subjects.has(paymentId)),
    ({ paymentId }) => paymentId,
  )
  const paid = await mapInChunks([...rest], 1, ([paymentId, own]) =>
    bringForwardByEntry(deps, by, { paymentId, entries: own }),
  )
  return [...repairs, ...paid.flatMap((one) => one ?? [])]
}
