import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, PaymentIdSchema } from '../ids.ts'
import { isNew, unchanged } from '../table/condition.ts'
import { sealedBooksKey, sealsPk, WINDOW_SEAL_PREFIX, windowSealKey } from '../table/keys.ts'
import { queryPages } from '../table/query-pages.ts'
import { put } from '../table/step.ts'
import { TimestampSchema } from '../time.ts'
import { NOTHING_SEALED } from './ledger-tally.ts'
import { PartSchema } from './paid-window.ts'

/** A settled window that was found right. Its digest covers each of its payments, and the window before. */
const WindowSealSchema = v.object({
  periodStart: TimestampSchema,
  periodEnd: TimestampSchema,
  ...PartSchema.entries.sums.entries,
  digest: v.string(),
})
export type WindowSeal = v.InferOutput<typeof WindowSealSchema>

const SealedShardSchema = v.object({
  creditedMinor: v.number(),
  countPending: v.number(),
  countSucceeded: v.number(),
  countFailed: v.number(),
  countExpired: v.number(),
  countCancelled: v.number(),
  creditedAt: v.optional(v.string()),
})

/** What was found right of a client's payments, in the order they were made. */
const SealedBooksSchema = v.object({
  version: v.optional(v.number()),
  /** Every payment up to here is in the tally, or open. */
  place: v.optional(v.object({ listedAt: v.string(), id: v.string() })),
  shards: v.array(SealedShardSchema),
  /** Payments up to the place that can still change, or are not right. */
  openIds: v.optional(v.set(PaymentIdSchema)),
  /** Of the window that is being read. */
  part: v.optional(PartSchema),
  /** What the ledger was when all was last found right. */
  balancedAs: v.optional(v.string()),
})
export type SealedBooks = v.InferOutput<typeof SealedBooksSchema>

export const NOTHING_READ: SealedBooks = { shards: [...NOTHING_SEALED] }

export const readSealedBooks = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<SealedBooks> => {
  const item = await deps.table.get(sealedBooksKey(clientId))
  return item === undefined ? NOTHING_READ : v.parse(SealedBooksSchema, item)
}

/** Keeps what was read; undefined when another run has kept something meanwhile, and goes on itself. */
export const keepSealedBooks = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
  books: SealedBooks,
): Promise<SealedBooks | undefined> => {
  const { openIds, ...rest } = books
  const version = (books.version ?? 0) + 1
  // DynamoDB has no empty sets.
  const kept = { ...rest, ...(openIds && openIds.size > 0 && { openIds }), version }
  const { applied } = await deps.table.write(put(sealedBooksKey(clientId), kept, unchanged('version', books.version)))
  return applied ? { ...books, version } : undefined
}

/** A client's sealed windows, oldest first: one small row for each. */
export const readWindowSeals = async (
  deps: Pick<Deps, 'table'>,
  clientId: ClientId,
): Promise<readonly WindowSeal[]> => {
  const seals: WindowSeal[] = []
  const range = { beginsWith: WINDOW_SEAL_PREFIX }
  for await (const page of queryPages(deps, { partition: [sealsPk(clientId)], range, limit: 500 })) {
    seals.push(...page.map((item) => v.parse(WindowSealSchema, item)))
  }
  return seals
}

/** Puts a seal, once. What it says follows from the window alone: whoever comes second would put the same. */
export const putWindowSeal = (deps: Pick<Deps, 'table'>, clientId: ClientId, seal: WindowSeal) =>
  deps.table.write(put(windowSealKey(clientId, seal.periodStart), seal, isNew))
