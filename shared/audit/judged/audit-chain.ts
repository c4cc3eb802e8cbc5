import type { Timestamp } from '../../time.ts'
import { type Difference, differs, when } from '../../verdict/difference.ts'
import type { ClientBooks } from './client-books.ts'

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
