import { text } from '../../support/recount/books.ts'
import type { World } from '../world/world.ts'

/**
 * Answers, once everything rests, which rows beside a payment's own nobody was told of: they say something else of the
 * money that it was credited with. Of a payment that is void nothing is left to be told.
 */
export const watchStrangeRows = (world: World) => (): readonly string[] => {
  const payments = new Map(
    world.table.items('PAYMENT#').map((item) => [text(item, 'credited_provider_payment_id'), item]),
  )
  return world.strangeRows.flatMap(({ providerPaymentId, cause }) => {
    const payment = payments.get(providerPaymentId)
    if (payment?.['status'] !== 'succeeded' || payment['is_void'] === true) return []
    const finding = `SUSPENSE#${text(payment, 'pk').slice('PAYMENT#'.length)}#${cause}`
    const isTold = world.table.item({ pk: finding, sk: 'SUSPENSE' }) !== undefined
    return isTold ? [] : [`nobody was told by a row of ${providerPaymentId}: ${cause}`]
  })
}
