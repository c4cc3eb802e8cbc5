import type { Deps } from '../deps.ts'
import { pointFromDestination } from './destination-store.ts'
import type { Payment } from './payment.ts'
import { pointFromReference } from './reference-store.ts'

/**
 * Writes the pointers to a payment before it is visible, outside its transaction. Pointers of a payment that is not
 * committed are ignored, because readers check the payment. Safe to repeat.
 */
export const putPointers = async (deps: Pick<Deps, 'table'>, payment: Payment): Promise<void> => {
  const steps = [pointFromDestination(payment), pointFromReference(payment)].filter((step) => step !== undefined)
  await Promise.all(steps.map((step) => deps.table.write(step)))
}
