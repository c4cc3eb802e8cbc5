import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import { type ClientId, PaymentIdSchema, SettlementIdSchema } from '../../ids.ts'
import type { Item } from '../../table/attributes.ts'
import { foundKey, type Key, ownersOf, paymentKey, settlementKey } from '../../table/keys.ts'
import { mergedPages, shareOf } from '../../table/merged-pages.ts'

/** Items read side by side; with their events they are what an audit holds in memory at a time. */
const PAGE = 500

/** A place in the order of an owner's list. */
export type Place = { readonly listedAt: string; readonly id: string }

export type OwnedItem = {
  readonly place: Place
  /** As the index has it. */
  readonly key: Key
  /** As the table has it now; undefined when it is gone. */
  readonly item: Item | undefined
}

export type OwnedRange = {
  /** In how many parts of the client they lie. */
  readonly parts: number
  readonly after?: Place | undefined
  /** Of when they are listed: from the first time, up to the second one, both included. */
  readonly between?: readonly [string, string] | undefined
}

/**
 * Everything a client owns of one kind, oldest first, page by page: memory does not grow with their number. Items come
 * raw, since an audit must be able to speak about one that nobody could read.
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
