import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { booksOf, type RawItem, text, wholeRow } from '../../support/recount/books.ts'
import { cancelledRequest } from './provider-network.ts'
import type { World } from './world.ts'

type WithTable = Pick<World, 'table'>

/** Leaves out the other items of the rows' partitions. */
export function rowsOf(
  { table }: WithTable,
  kind: 'PAYMENT' | 'DELIVERY' | 'TEST' | 'SETTLEMENT',
  having: Readonly<Record<string, unknown>> = {},
): readonly StoredItem[] {
  const sk = kind === 'TEST' ? 'DELIVERY' : kind
  return table
    .items(`${kind}#`)
    .map(wholeRow)
    .filter((row) =>
      Object.entries({ sk, ...having }).every(([name, value]) => row[name] === value),
    )
}

/** A delivery of an event, or a test delivery. */
export function deliveryRow({ table }: WithTable, id: unknown) {
  const keys = ['DELIVERY', 'TEST'].map((kind) => ({ pk: `${kind}#${String(id)}`, sk: 'DELIVERY' }))
  const row = keys.map((key) => table.item(key)).find((item) => item !== undefined)
  return row && wholeRow(row)
}
export const suspenseRow = rowOf('SUSPENSE')

export function clientRow(world: WithTable, id: unknown) {
  return rowOf('CLIENT')(world, id) ?? {}
}

function rowOf(kind: string) {
  return ({ table }: WithTable, id: unknown) => {
    const row = table.item({ pk: `${kind}#${String(id)}`, sk: kind })
    return row && wholeRow(row)
  }
}

export function windowRow({ table }: WithTable, clientId: unknown) {
  return table.item({ pk: `LEDGER#${String(clientId)}`, sk: 'WINDOW' }) ?? {}
}

export const paymentRow = rowOf('PAYMENT')

export function paymentOfReference(world: WithTable, reference: string | undefined) {
  return paymentRow(world, reference?.slice(0, 36))
}

export function onCancel(
  world: World,
  listen: (requestId: string, payment: StoredItem | undefined) => void,
) {
  void world.onAsked.push((_, method, path) => {
    const id = cancelledRequest(method, path)
    if (id !== undefined)
      listen(id, paymentOfReference(world, world.provider.storedRequest(id)?.request.reference_id))
  })
}

/** A delivery has its status in `status`, which an index lists, or in `state`. */
export function deliveryStatus(row: StoredItem = {}) {
  return text(row, 'status') || text(row, 'state')
}

export function entriesOf({ table }: WithTable, clientId: unknown): readonly RawItem[] {
  return booksOf(table.items(`JOURNAL#${String(clientId)}`)).entries
}

/** Undefined before a settlement contains the payment's own entry. */
export function settlementOf(world: WithTable, payment: RawItem) {
  const postedAt = text(payment, 'posted_at')
  if (postedAt === '') return undefined
  const aDayOld = new Date(Date.parse(text(payment, 'paid_at')) + DAY_MS).toISOString()
  const at = postedAt > aDayOld ? postedAt : aDayOld
  return rowsOf(world, 'SETTLEMENT', { client_id: payment['client_id'] }).find(
    (settlement) => text(settlement, 'swept_from') <= at && at < text(settlement, 'swept_until'),
  )
}

export const STAGES = ['open', 'posted', 'recorded', 'failed', 're-credited', 'paid out'] as const

export function stageOf(world: WithTable, payment: RawItem): (typeof STAGES)[number] {
  if (text(payment, 'posted_at') === '') return 'open'
  const settlement = settlementOf(world, payment)
  if (settlement === undefined) return 'posted'
  if (settlement['status'] === 'recorded') return 'recorded'
  if (settlement['status'] === 'manual_paid') return 'paid out'
  return settlement['recredited_at'] === undefined ? 'failed' : 're-credited'
}
