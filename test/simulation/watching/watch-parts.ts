import { amount, type RawItem } from '../../support/recount/books.ts'
import { clientRow } from '../world/rows.ts'
import { APART_MS, type Rules, type Write, watchRules } from '../world/rules.ts'
import type { World } from '../world/world.ts'

type Parts = { readonly number: number; readonly before: number; readonly from: string }

const partsOf = (item: RawItem): Parts | undefined => item['ledger_parts'] as Parts | undefined
const numberOf = (item: RawItem): number => partsOf(item)?.number ?? 1
const numberAt = (item: RawItem, at: string): number => {
  const parts = partsOf(item)
  return parts && at < parts.from ? parts.before : numberOf(item)
}

const isGrown = ({ before, after, isNew }: Write) => !isNew && numberOf(before) !== numberOf(after)

const ofClients: Rules = {
  'has fewer parts until its new ones are in force': (write) => {
    const slowestClock = new Date(write.nowMs - APART_MS).toISOString()
    const untilThen = partsOf(write.after)?.before ?? 1
    return isGrown(write) && untilThen < numberAt(write.before, slowestClock)
  },
  'uses new parts before every reader knows of them': (write) =>
    isGrown(write) && Date.parse(partsOf(write.after)?.from ?? '') < write.nowMs + 30_000,
}

/** A payment, when its create is claimed. */
const ofClaims: Rules = {
  'is put in a part that a reader who has begun does not read': ({ world, after, isNew, nowMs }) => {
    const at = new Date(nowMs + APART_MS).toISOString()
    return isNew && amount(after, 'part') >= numberAt(clientRow(world, after['client_id']), at)
  },
}

/** Checked at every write to a client and at every claim of a payment: no part is used before its readers know of it. */
export const watchParts = (world: World): void =>
  watchRules(world, ({ sk }) => (sk === 'CLIENT' ? ofClients : sk === 'PAYMENT' ? ofClaims : undefined))
