import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import type { EventPosition } from '../../event/event.ts'
import { eventPositionPages } from '../../event/event-store.ts'
import { PaymentSchema } from '../../payment/payment.ts'
import type { Item } from '../../table/attributes.ts'
import { paymentKey } from '../../table/keys.ts'
import { type Difference, differs } from '../../verdict/difference.ts'
import { eventNamesOf } from './audit-event.ts'
import type { ClientBooks } from './client-books.ts'

export const STRAY_EVENT = 'none that its payment does not tell'

/** Whether a payment has this event. A payment that is being created or absent has none. */
export const tellsOf = (item: Item | undefined, name: string): boolean => {
  const payment = v.safeParse(PaymentSchema, item)
  return payment.success && eventNamesOf(payment.output).includes(name)
}

const judge = ({ paymentId, name }: EventPosition, item: Item | undefined): readonly Difference[] =>
  tellsOf(item, name) ? [] : differs('event', paymentId, STRAY_EVENT, name)

/**
 * Events without a matching payment state. A restore may have brought the event alone; then no later news can change
 * the payment, because its transaction writes the event once.
 */
export const auditStrayEvents = async (
  deps: StoreDeps,
  { clientId, parts }: Pick<ClientBooks, 'clientId' | 'parts'>,
  between: readonly [string, string],
): Promise<readonly Difference[]> => {
  const differences: Difference[] = []
  for await (const positions of eventPositionPages(deps, { clientId, parts, between })) {
    const items = await deps.table.getMany([...new Set(positions.map(({ paymentId }) => paymentId))].map(paymentKey))
    const byPk = new Map(items.map((item) => [item?.['pk'], item]))
    differences.push(...positions.flatMap((one) => judge(one, byPk.get(paymentKey(one.paymentId).pk))))
  }
  return differences
}
