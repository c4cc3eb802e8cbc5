import { addMs, DAY_MS, later, MINUTE_MS, type Timestamp } from '../../time.ts'
import { type Difference, differs, when } from '../../verdict/difference.ts'
import type { ClientBooks } from './client-books.ts'

/** Clocks differ a little. */
const SKEW_MS = 5 * MINUTE_MS

const isOutside = (from: Timestamp, to: Timestamp, time: Timestamp): boolean => time < from || time > to

/** No shard lets entries into a swept window or is closed further than the window, and no fence is in the future. */
const auditFence = ({ clientId, ledger }: ClientBooks, now: Timestamp): readonly Difference[] => {
  if (ledger === undefined) return []
  const { window, shards } = ledger
  const { settledUntil, closedUntil } = window
  return [
    ...when(
      isOutside(settledUntil, addMs(later(now, settledUntil), SKEW_MS), closedUntil),
      differs('window.closed_until', clientId, 'from what is settled until now', closedUntil),
    ),
    ...shards.flatMap((shard) =>
      when(
        isOutside(settledUntil, closedUntil, shard.closedUntil),
        differs(
          'ledger_shard.closed_until',
          String(shard.number),
          'from what is settled until where the window is closed',
          shard.closedUntil,
        ),
      ),
    ),
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
  { client, clientId, ledger, settlements }: ClientBooks,
  now: Timestamp,
): readonly Difference[] => {
  if (ledger === undefined) return []
  const times = changeTimes(settlements)
  const { changedAt } = ledger.window
  // Settling and re-crediting never wait for each other, so the last commit may have the earlier time.
  const isOfNone = changedAt === undefined ? times.length > 0 : !times.includes(changedAt)
  return [
    ...when(isOfNone, differs('window.changed_at', clientId, 'the time of a settlement or of a re-credit', changedAt)),
    ...ledger.shards.flatMap(({ number, creditedMinor, creditedAt }) =>
      when(
        creditedAt === undefined
          ? creditedMinor !== 0
          : isOutside(addMs(client.createdAt, -DAY_MS), addMs(now, SKEW_MS), creditedAt),
        differs('ledger_shard.credited_at', String(number), 'a time that has come', creditedAt ?? 'none'),
      ),
    ),
  ]
}

/** The times of a client's window and shards. */
export const auditWindow = (books: ClientBooks, now: Timestamp): readonly Difference[] => [
  ...auditFence(books, now),
  ...auditChanged(books, now),
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
