import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import { type ClientId, PaymentIdSchema, SettlementIdSchema } from '../../ids.ts'
import type { Item } from '../../table/attributes.ts'
import { foundKey, type Key, ownersOf, paymentKey, settlementKey } from '../../table/keys.ts'
import { mergedPages, shareOf } from '../../table/merged-pages.ts'

/** Items that are read at the same time. With their events they are what an audit holds in memory. */
const PAGE = 500

/** A position in an owner's list. */
export type Place = { readonly listedAt: string; readonly id: string }

export type OwnedItem = {
  readonly place: Place
  /** As the index has it. */
  readonly key: Key
  /** As the table has it now; undefined when it is gone. */
  readonly item: Item | undefined
}

export type OwnedRange = {
  /** The number of the client's parts. */
  readonly parts: number
  readonly after?: Place | undefined
  /** Their list times: from the first time to the second, both included. */
  readonly between?: readonly [string, string] | undefined
}

/**
 * All items of one kind that a client owns, oldest first, page by page: memory does not grow with their number. Items
 * are raw, because an audit must also report an unreadable one.
 */
export const ownedItems = async function* (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  entity: 'payment' | 'settlement',
  { parts, after, between }: OwnedRange,
): AsyncGenerator<readonly OwnedItem[]> {
  const partitions = ownersOf(clientId, parts).map((owner) => [owner, entity])
  const limit = shareOf(PAGE, partitions)
  const position = after && { ...placeKey(entity, after.id), listed_at: after.listedAt, id: after.id }
  const range = between && { between }
  for await (const { items: page } of mergedPages(deps, { index: 'by-owner', partitions, limit, range }, position)) {
    const keys = page.map((item) => (entity === 'payment' ? foundKey('PAYMENT', item) : foundKey('SETTLEMENT', item)))
    const items = await deps.table.getMany(keys)
    yield keys.map((key, at) => ({ key, item: items[at], place: placeOf(page[at]) }))
  }
}

const placeOf = (row: Item | undefined): Place => ({ listedAt: String(row?.['listedAt']), id: String(row?.['id']) })

const placeKey = (entity: 'payment' | 'settlement', id: string): Key =>
  entity === 'payment' ? paymentKey(v.parse(PaymentIdSchema, id)) : settlementKey(v.parse(SettlementIdSchema, id))
