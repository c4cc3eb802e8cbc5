import { createHash } from 'node:crypto'
import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { PaymentIdSchema } from '../ids.ts'
import { isDeducted, isReinstated, type LedgerReversal, reversalsBetween } from '../ledger/reversal-store.ts'
import { type PaidRange, paidRowPages } from '../settlement/paid-payments.ts'
import type { Item } from '../table/attributes.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { noSums, type SettledSums } from './settled-sums.ts'

/**
 * A window's payments counted up again, without what went back, and a digest over each of them and over the window before.
 */
export type PaidWindow = { readonly sums: SettledSums; readonly digest: string }

/** A window that was read up to a payment: the next run goes on behind it. */
export const PartSchema = v.object({
  start: TimestampSchema,
  paidAt: TimestampSchema,
  id: PaymentIdSchema,
  digest: v.string(),
  sums: v.object({
    grossMinor: v.number(),
    providerFeesMinor: v.number(),
    markupMinor: v.number(),
    netMinor: v.number(),
    paymentCount: v.number(),
  }),
})
export type WindowPart = v.InferOutput<typeof PartSchema>

const sha256 = (...texts: readonly unknown[]): string => createHash('sha256').update(texts.join('|')).digest('hex')

/** A tampered amount counts as nothing: what it is instead, its payment says. */
const amount = (value: unknown): number => (typeof value === 'number' ? value : 0)

const addRow = ({ sums, digest }: PaidWindow, row: Item): PaidWindow => {
  const amounts = [row['notionalMinor'], row['providerFeeMinor'], row['markupMinor'], row['netMinor']]
  const [gross, fee, markup, net] = amounts.map(amount)
  return {
    sums: {
      grossMinor: sums.grossMinor + (gross ?? 0),
      providerFeesMinor: sums.providerFeesMinor + (fee ?? 0),
      markupMinor: sums.markupMinor + (markup ?? 0),
      netMinor: sums.netMinor + (net ?? 0),
      paymentCount: sums.paymentCount + 1,
    },
    // What never changes of a settled payment: when the provider paid for it is not among it.
    digest: sha256(digest, row['id'], row['paidAt'], ...amounts, row['feeStatus']),
  }
}

/** Taken out again what went back before the window was swept, and put in what came again and stands in it. */
const withReversal = ({ sums, digest }: PaidWindow, reversal: LedgerReversal): PaidWindow => {
  const { paymentId, seq, notionalMinor, providerFeeMinor, markupMinor, netMinor } = reversal
  const sign = isReinstated(reversal) ? 1 : -1
  const name = isReinstated(reversal) ? 'reinstated' : 'reversal'
  return {
    sums: {
      grossMinor: sums.grossMinor + sign * notionalMinor,
      providerFeesMinor: sums.providerFeesMinor + sign * providerFeeMinor,
      markupMinor: sums.markupMinor + sign * markupMinor,
      netMinor: sums.netMinor + sign * netMinor,
      paymentCount: sums.paymentCount + sign,
    },
    digest: sha256(digest, name, paymentId, seq, notionalMinor, providerFeeMinor, markupMinor, netMinor),
  }
}

type Whole = PaidWindow & { readonly part?: undefined }

/**
 * Counts a window's payments from the index, page by page. `previous`: the digest of the window before. A run whose
 * time is over gets the part it has read.
 */
export const readPaidWindow = async (
  deps: Pick<Deps, 'table' | 'stage'>,
  range: PaidRange,
  from: { readonly previous: string; readonly part?: WindowPart | undefined; readonly isOver: () => boolean },
): Promise<Whole | { readonly part: WindowPart }> => {
  const { start, end } = range.period
  const known = from.part?.start === start ? from.part : undefined
  let window: PaidWindow = known ?? { sums: noSums(), digest: sha256(from.previous, start, end) }
  for await (const { items, more } of paidRowPages(deps, { ...range, after: known })) {
    window = items.reduce(addRow, window)
    const last = items.at(-1)
    if (more && last && from.isOver()) {
      const paidAt: Timestamp = v.parse(TimestampSchema, last['paidAt'])
      return { part: { ...window, start, paidAt, id: v.parse(PaymentIdSchema, last['id']) } }
    }
  }
  const reversals = await reversalsBetween(deps, range.clientId, { start, end })
  return reversals.filter((reversal) => isDeducted(reversal) || isReinstated(reversal)).reduce(withReversal, window)
}
