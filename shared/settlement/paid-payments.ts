import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, PaymentIdSchema } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { ownersOf, paymentKey } from '../table/keys.ts'
import { type MergedPage, mergedPages, shareOf } from '../table/merged-pages.ts'
import { addMs, type Timestamp, TimestampSchema } from '../time.ts'
import type { Sums } from './sums.ts'

/** A succeeded payment as the by-owner-paid index holds it. Late news can delay it there, never change a final fee. */
export const PaidPaymentSchema = v.object({
  id: PaymentIdSchema,
  paidAt: TimestampSchema,
  notionalMinor: MinorSchema,
  providerFeeMinor: MinorSchema,
  markupMinor: MinorSchema,
  netMinor: MinorSchema,
  feeStatus: v.picklist(['estimated', 'actual', 'assumed']),
  providerSettledAt: v.optional(TimestampSchema),
})
export type PaidPayment = v.InferOutput<typeof PaidPaymentSchema>

/** A span of paid_at: start included, end excluded (spec 2.3). */
export type Period = { readonly start: Timestamp; readonly end: Timestamp }

/** A place in the order of a client's paid payments, whatever part of it they are in. */
export type PaidPosition = Pick<PaidPayment, 'id' | 'paidAt'>

export type PaidRange = {
  readonly clientId: ClientId
  /** How many the client has. */
  readonly parts: number
  readonly period: Period
  readonly limit?: number
  readonly after?: PaidPosition | undefined
}

/** A client's payments by the time they were paid, oldest first, page by page and as the index has them. */
export const paidRowPages = async function* (
  deps: Pick<Deps, 'table' | 'stage'>,
  { clientId, parts, period: { start, end }, limit, after }: PaidRange,
): AsyncGenerator<MergedPage> {
  if (end <= start) return
  const partitions = ownersOf(clientId, parts).map((owner) => [owner])
  // BETWEEN includes both ends, the period excludes its end.
  const range = { between: [start, addMs(end, -1)] } as const
  const rows = limit ?? (deps.stage.historySteps ?? HISTORY_STEPS).rows
  yield* mergedPages(
    deps,
    { index: 'by-owner-paid', partitions, range, limit: shareOf(rows, partitions) },
    after && { ...paymentKey(after.id), paid_at: after.paidAt, id: after.id },
  )
}

export type PaidPage = { readonly payments: readonly PaidPayment[]; readonly more: boolean }

/** The same as payments. A period without any has no page at all when it is empty itself. */
export const paidPages = async function* (
  deps: Pick<Deps, 'table' | 'stage'>,
  range: PaidRange,
): AsyncGenerator<PaidPage> {
  for await (const { items, more } of paidRowPages(deps, range)) {
    yield { payments: items.map((item) => v.parse(PaidPaymentSchema, item)), more }
  }
}

export const sumsOf = (
  payment: Pick<PaidPayment, 'notionalMinor' | 'providerFeeMinor' | 'markupMinor' | 'netMinor'>,
): Sums => ({
  grossMinor: payment.notionalMinor,
  providerFeesMinor: payment.providerFeeMinor,
  markupMinor: payment.markupMinor,
  netMinor: payment.netMinor,
  paymentCount: 1,
})
