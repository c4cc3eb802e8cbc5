import { amount, text } from '../../support/recount/books.ts'
import { sweptBy } from '../../support/recount/journal-books.ts'
import { entriesOf, rowsOf } from '../world/rows.ts'
import type { World } from '../world/world.ts'

/**
 * The entries of paid settlements that are about another client's payment, or about its row at the
 * provider. `clients`: whose each payment is.
 */
export function misdirected(
  world: Pick<World, 'table' | 'provider'>,
  clients: ReadonlyMap<string, string>,
) {
  const paymentOfRow = new Map(
    world.provider.transactionRecords().map(({ id, row }) => [id, row.reference_id.slice(0, 36)]),
  )
  return rowsOf(world, 'SETTLEMENT', { status: 'manual_paid' }).flatMap((settlement) => {
    const clientId = text(settlement, 'client_id')
    return sweptBy(settlement, entriesOf(world, clientId)).flatMap((entry) => {
      const row = text(entry, 'provider_transaction_id')
      const payments = [text(entry, 'payment_id'), paymentOfRow.get(row) ?? '']
      const foreign = payments.find((id) => (clients.get(id) ?? clientId) !== clientId)
      return foreign === undefined || amount(entry, 'net_minor') <= 0
        ? []
        : [`${clientId} was paid ${text(entry, 'net_minor')} of ${foreign}, another client's`]
    })
  })
}
