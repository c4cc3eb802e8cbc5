import type { FunctionSpec } from '../../../functions/function-spec.ts'
import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { type ClientId, paymentIdFor, slotOf } from '../../../shared/ids.ts'
import { pkPrefix, shardKey } from '../../../shared/table/keys.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { exists, put, type Step, updateFields } from '../../../shared/table/step.ts'
import { amount, isOpen, text } from '../../support/recount/books.ts'
import type { Prng } from '../world/prng.ts'
import { rowsOf } from '../world/rows.ts'
import type { World } from '../world/world.ts'

/**
 * All writes that give a paid payment to another client so that the books still add up: payment,
 * both shards and events. Under its own id, or under a new id that fits the other client. Empty if
 * the role may not write them.
 */
export function movePayment(
  world: Pick<World, 'table'>,
  prng: Prng,
  { table, updates }: FunctionSpec,
): readonly Step[] {
  const mayMove = table.PutItem?.includes('PAYMENT') && updates.LEDGER?.includes('credited_minor')
  const payments = rowsOf(world, 'PAYMENT', { status: 'succeeded' }).filter(isOpen)
  if (!mayMove || payments.length === 0) return []
  const payment = prng.pick(payments)
  const owner = text(payment, 'owner')
  const others = world.table
    .items(pkPrefix('CLIENT'))
    .map(({ client_id: id }) => String(id))
    .filter((id) => id !== owner)
  if (others.length === 0) return []
  const other = prng.pick(others) as ClientId
  const digest = prng.bytes(16).toString('base64url')
  const id = text(payment, 'id')
  const newId = prng.chance(0.5) ? id : paymentIdFor(other, digest)
  const moved = { ...payment, owner: other, id: newId, ...(newId !== id && { key_digest: digest }) }
  const given = putAs(`PAYMENT#${newId}`, moved)
  const left = newId === id ? [] : [putAs(`PAYMENT#${id}`, { ...payment, status: 'failed' })]
  return [
    given,
    ...left,
    ...movedCredit(owner as ClientId, id, payment, -1),
    ...movedCredit(other, newId, payment, 1),
    ...movedEvents(world, { id, newId, other }),
  ]
}

function putAs(pk: string, item: StoredItem) {
  return put({ pk, sk: String(item['sk']) }, item)
}

function movedCredit(clientId: ClientId, id: string, payment: StoredItem, times: 1 | -1) {
  const credit = times * (amount(payment, 'net_minor') - amount(payment, 'taken_back_minor'))
  const add = { creditedMinor: credit, countSucceeded: times }
  return [updateFields(shardKey(clientId, slotOf(id, LEDGER_SHARDS)), { add }, exists)]
}

type Move = { readonly id: string; readonly newId: string; readonly other: string }

function movedEvents({ table }: Pick<World, 'table'>, { id, newId, other }: Move) {
  return table
    .items(`EVENT#payment#${id}`)
    .map((event) => putAs(`EVENT#payment#${newId}`, { ...event, owner: other }))
}
