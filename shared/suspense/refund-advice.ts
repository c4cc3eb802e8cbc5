import * as v from 'valibot'
import { channelOf } from '../channel/channels.ts'
import type { TableDeps } from '../deps.ts'
import { PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { PAYMENT_METHODS } from '../payment-status.ts'
import { paymentKey } from '../table/keys.ts'
import type { Suspense } from './suspense.ts'

const ChosenSchema = v.object({
  method: v.picklist(PAYMENT_METHODS),
  channelCode: v.optional(v.string()),
})
/** A payment in creation has its channel in its request. */
const StoredSchema = v.union([ChosenSchema, v.object({ request: ChosenSchema })])

/** How held money goes back to its customer, by the table of channels (design section 14). */
export async function refundAdvice(deps: TableDeps, item: Suspense): Promise<string> {
  const paymentId = ifValid(PaymentIdSchema, item.paymentId)
  const stored = ifValid(StoredSchema, paymentId && (await deps.table.get(paymentKey(paymentId))))
  const chosen = stored && 'request' in stored ? stored.request : stored
  const refund = chosen && channelOf(chosen).facts?.refund
  if (refund?.by === 'transfer')
    return 'The provider cannot give it back: refund it by a transfer from our bank.'
  const within = refund ? ` (${refund.within})` : ''
  return `Refund it in the provider's dashboard${within}, which resolves the item.`
}
