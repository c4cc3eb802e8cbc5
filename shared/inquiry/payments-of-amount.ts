import * as v from 'valibot'
import { requireClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { type ClientId, PaymentIdSchema } from '../ids.ts'
import { endOfBookDay } from '../journal/day-totals.ts'
import { readParts } from '../ledger/window-store.ts'
import { CURSOR_JSON, encodeCursor } from '../page.ts'
import type { Payment } from '../payment/payment.ts'
import { PaymentSchema } from '../payment/payment-store.ts'
import type { PaymentMethod, PaymentStatus } from '../payment-status.ts'
import type { Item } from '../table/attributes.ts'
import { foundKey, ownersOf, paymentKey } from '../table/keys.ts'
import { mergedPages, shareOf } from '../table/list-items.ts'
import { addMs, DAY_MS, TimestampSchema } from '../time.ts'

/** The maximum of payments that one call reads, and of those it shows; a cursor continues. */
const MAX_LOOKED_AT = 5_000
const MAX_SHOWN = 100
const PAGE = 100

type AmountSearch = {
  readonly clientId: ClientId
  readonly amountMinor: number
  /** The day of the create in Asia/Jakarta, such as 2026-11-30. */
  readonly day: string
  readonly status: PaymentStatus | undefined
  readonly method: PaymentMethod | undefined
  readonly cursor: string | undefined
}

const Cursor = v.pipe(CURSOR_JSON, v.strictObject({ payment_id: PaymentIdSchema, listed_at: TimestampSchema }))

const positionOf = (cursor: string): Item => {
  const { success, output } = v.safeParse(Cursor, cursor)
  if (!success) throw invalid('cursor must be the cursor of an earlier find-payments answer')
  return { ...paymentKey(output.payment_id), listed_at: output.listed_at, id: output.payment_id }
}

const cursorAfter = (row: Item | undefined): string | undefined =>
  row && encodeCursor({ payment_id: row['id'], listed_at: row['listedAt'] })

const matches = (payment: Payment, { amountMinor, status, method }: AmountSearch): boolean =>
  payment.notionalMinor === amountMinor &&
  payment.status === (status ?? payment.status) &&
  payment.method === (method ?? payment.method)

/**
 * Finds a client's payments of an amount on one day, newest first (design section 11). A call ends after 5,000 payments
 * read or 100 found; `next` is the cursor of the next call. Throws 404 for an unknown client, 422 for an invalid
 * cursor.
 */
export const paymentsOfAmount = async (
  deps: Pick<Deps, 'table'>,
  search: AmountSearch,
): Promise<{ readonly payments: readonly Payment[]; readonly next: string | undefined }> => {
  const { clientId, day, cursor } = search
  await requireClient(deps, clientId)
  const partitions = ownersOf(clientId, await readParts(deps, clientId)).map((owner) => [owner, 'payment'])
  const end = endOfBookDay(day)
  const range = { between: [addMs(end, -DAY_MS), addMs(end, -1)] } as const
  const input = { index: 'by-owner', partitions, range, newestFirst: true, limit: shareOf(PAGE, partitions) } as const
  const found: Payment[] = []
  let lookedAt = 0
  for await (const { items, more } of mergedPages(deps, input, cursor === undefined ? undefined : positionOf(cursor))) {
    const stored = await deps.table.getMany(items.map((item) => foundKey('PAYMENT', item)))
    const payments = stored.filter((item) => item !== undefined).map((item) => v.parse(PaymentSchema, item))
    found.push(...payments.filter((payment) => matches(payment, search)))
    lookedAt += items.length
    if (more && (lookedAt >= MAX_LOOKED_AT || found.length >= MAX_SHOWN)) {
      return { payments: found, next: cursorAfter(items.at(-1)) }
    }
  }
  return { payments: found, next: undefined }
}
