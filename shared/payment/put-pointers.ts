import type { Deps } from '../deps.ts'
import { pointFromDestination } from './destination-store.ts'
import type { Payment } from './payment.ts'
import { pointFromReference } from './reference-store.ts'

/**
 * Puts what leads to a payment that is about to be visible, outside of its transaction: a payment that is not committed
 * leaves pointers that lead nowhere, and whoever reads them looks at the payment. Safe to repeat.
 */
export const putPointers = async (deps: Pick<Deps, 'table'>, payment: Payment): Promise<void> => {
  const steps = [pointFromDestination(payment), pointFromReference(payment)].filter((step) => step !== undefined)
  await Promise.all(steps.map((step) => deps.table.write(step)))
}
