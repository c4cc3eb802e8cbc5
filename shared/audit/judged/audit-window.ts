import type { Ledger } from '../../ledger/ledger-store.ts'
import { addMs, DAY_MS, later, MINUTE_MS, type Timestamp } from '../../time.ts'
import { type Difference, differs, when } from '../../verdict/difference.ts'
import type { ClientBooks } from './client-books.ts'

/** Clocks differ a little. */
const SKEW_MS = 5 * MINUTE_MS

const isOutside = (from: Timestamp, to: Timestamp, time: Timestamp): boolean => time < from || time > to

/** No shard lets entries into a swept window or is closed further than the window, and no fence is in the future. */
const auditFence = ({ clientId }: ClientBooks, { window, shards }: Ledger, now: Timestamp): readonly Difference[] => {
  const { settledUntil, closedUntil } = window
  const rule = 'from what is settled until where the window is closed'
  return [
    ...when(
      isOutside(settledUntil, addMs(later(now, settledUntil), SKEW_MS), closedUntil),
      differs('window.closed_until', clientId, 'from what is settled until now', closedUntil),
    ),
    ...shards
      .filter((shard) => isOutside(settledUntil, closedUntil, shard.closedUntil))
      .flatMap((shard) => differs('ledger_shard.closed_until', String(shard.number), rule, shard.closedUntil)),
  ]
}

/** When settlements and re-credits changed the window. */
export const changeTimes = (settlements: ClientBooks['settlements']): readonly Timestamp[] =>
  settlements.flatMap(({ settlement: { createdAt, recreditedAt, leftOut = [] } }) => [
    createdAt,
    recreditedAt ?? createdAt,
    ...leftOut.map((entry) => entry.recreditedAt),
  ])

/** When figures of the balance changed: by the last settlement or re-credit, and for shards at a possible time. */
const auditChanged = (
  { client, clientId, settlements }: ClientBooks,
  { window: { changedAt }, shards }: Ledger,
  now: Timestamp,
): readonly Difference[] => {
  const times = changeTimes(settlements)
  // Settling and re-crediting never wait for each other, so the last commit may have the earlier time.
  const isOfNone = changedAt === undefined ? times.length > 0 : !times.includes(changedAt)
  const [born, soon] = [addMs(client.createdAt, -DAY_MS), addMs(now, SKEW_MS)]
  return [
    ...when(isOfNone, differs('window.changed_at', clientId, 'the time of a settlement or of a re-credit', changedAt)),
    ...shards
      .filter(({ creditedAt: at, creditedMinor }) => (at ? isOutside(born, soon, at) : creditedMinor !== 0))
      .flatMap(({ number, creditedAt: at = 'none' }) =>
        differs('ledger_shard.credited_at', String(number), 'a time that has come', at),
      ),
  ]
}

/** The times of a client's window and shards. */
export const auditWindow = (books: ClientBooks, ledger: Ledger, now: Timestamp): readonly Difference[] => [
  ...auditFence(books, ledger, now),
  ...auditChanged(books, ledger, now),
]

/** Windows follow one another without a gap, from the client's creation to its settled time. */
export const auditChain = ({ client, clientId, settlements, ledger }: ClientBooks): readonly Difference[] => {
  const differences: Difference[] = []
  let until: Timestamp = client.createdAt
  let last: string | undefined
  for (const { settlement } of settlements) {
    const { settlementId: id, sweptFrom, sweptUntil, previousId } = settlement
    differences.push(
      ...differs('settlement.swept_from', id, until, sweptFrom),
      ...differs('settlement.previous_id', id, last, previousId),
      ...when(sweptUntil <= sweptFrom, differs('settlement.swept_until', id, 'after its start', sweptUntil)),
    )
    until = sweptUntil
    last = id
  }
  if (ledger === undefined) return differences
  return [
    ...differences,
    ...differs('window.settled_until', clientId, until, ledger.window.settledUntil),
    ...differs('window.last_settlement_id', clientId, last, ledger.window.lastSettlementId),
  ]
}
