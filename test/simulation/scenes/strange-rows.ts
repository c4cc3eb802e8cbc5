import { count } from '../world/tally.ts'
import { tell } from '../world/world.ts'
import type { Scene } from './scene.ts'

/** Money that nobody here knows of, under a reference that may look like one of ours. */
const bookUnknown = ({ world }: Scene): void => {
  const { oddities, provider } = world
  const type = oddities.pick(['PAYMENT', 'PAYMENT', 'TYPE_OF_TOMORROW'])
  const product = `py-${oddities.uuid()}`
  const reference_id = oddities.chance(0.5) ? 'order 17' : `${oddities.uuid()}-1`
  const row = provider.bookTransaction({ type, reference_id, product_id: product, amount: oddities.int(1, 100_000) })
  world.bookedBack.push(type === 'PAYMENT' ? product : row.id)
  tell(world, () => `the provider books money of nobody: ${product}`)
  count(world.tally, 'strange row: money of nobody')
}

/** It waits for its money, or for its fee to be final: whatever is said of it now may be believed. */
const isOpen = ({ world }: Scene, reference: string): boolean => {
  const payment = world.table.item({ pk: `PAYMENT#${reference.replace(/-\d+$/, '')}`, sk: 'PAYMENT' })
  return payment?.['status'] === 'pending' || payment?.['fee_status'] === 'estimated'
}

/**
 * The provider books a row beside the payment's own that does not agree with it: another amount, another currency, or less
 * kept than nothing. Or one of money that nobody here knows. It says nothing about a fee, moves no money, and a person is
 * told.
 */
export const bookStrangely = (play: Scene): Promise<void> => {
  const { oddities, provider, tally, unshownRows } = play.world
  const captured = new Map(provider.capturedPayments().map(({ id, amount }) => [id, amount]))
  // What is said beside a row that is never shown would stand in its place.
  const paid = provider
    .findPaymentRequests('')
    .filter(
      ({ latest_payment_id: id = '', request_amount: amount }) => captured.get(id) === amount && !unshownRows.has(id),
    )
  if (paid.length === 0 || oddities.chance(0.25)) {
    bookUnknown(play)
    return Promise.resolve()
  }
  const open = paid.filter(({ reference_id: reference }) => isOpen(play, reference))
  const { latest_payment_id: id, reference_id, request_amount: amount } = oddities.pick(open.length > 0 ? open : paid)
  const [wrong, kept] = [oddities.int(1, 5_000), oddities.int(1, 300)]
  const [what, row] = oddities.pick([
    ['another amount', { amount: amount + wrong, net_amount: amount + wrong - kept }],
    ['less kept than nothing', { amount, net_amount: amount + kept }],
    ['another currency', { amount, net_amount: amount - kept, currency: 'USD' }],
  ] as const)
  provider.bookTransaction({
    type: 'PAYMENT',
    settlement_status: 'SETTLED',
    reference_id,
    product_id: String(id),
    cashflow: 'MONEY_IN',
    ...row,
  })
  tell(play.world, () => `the provider books a row of ${what} for ${reference_id}`)
  count(tally, `strange row: ${what}`)
  return Promise.resolve()
}
