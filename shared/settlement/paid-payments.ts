import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type ClientId, PaymentIdSchema } from '../ids.ts'
import { MinorSchema } from '../money.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import type { Item } from '../table/attributes.ts'
import { paymentKey } from '../table/keys.ts'
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

export type PaidPage = { readonly payments: readonly PaidPayment[]; readonly cursor: Item | undefined }

/** One page of a client's payments by the time they were paid, oldest first. */
export const paidPaymentsPage = async (
  deps: Pick<Deps, 'table' | 'stage'>,
  input: {
    readonly clientId: ClientId
    readonly period: Period
    readonly limit?: number
    readonly cursor?: Item | undefined
  },
): Promise<PaidPage> => {
  const { start, end } = input.period
  if (end <= start) return { payments: [], cursor: undefined }
  const { items, cursor } = await deps.table.query({
    index: 'by-owner-paid',
    partition: [input.clientId],
    // BETWEEN includes both ends, the period excludes its end.
    range: { between: [start, addMs(end, -1)] },
    limit: input.limit ?? (deps.stage.historySteps ?? HISTORY_STEPS).rows,
    ...(input.cursor && { cursor: input.cursor }),
  })
  return { payments: items.map((item) => v.parse(PaidPaymentSchema, item)), cursor }
}

export type PaidPosition = Pick<PaidPayment, 'id' | 'paidAt'>

/** The index's own cursor for "behind this payment". */
export const behindPayment = (clientId: ClientId, { id, paidAt }: PaidPosition): Item => ({
  ...paymentKey(id),
  owner: clientId,
  paid_at: paidAt,
  id,
})

export const sumsOf = (
  payment: Pick<PaidPayment, 'notionalMinor' | 'providerFeeMinor' | 'markupMinor' | 'netMinor'>,
): Sums => ({
  grossMinor: payment.notionalMinor,
  providerFeesMinor: payment.providerFeeMinor,
  markupMinor: payment.markupMinor,
  netMinor: payment.netMinor,
  paymentCount: 1,
})
