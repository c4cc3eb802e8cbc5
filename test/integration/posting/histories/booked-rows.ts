import { minor } from '../../../../shared/money.ts'
import type { Payment } from '../../../../shared/payment/payment.ts'
import type { ProviderTransaction } from '../../../../shared/provider/provider.ts'
import { settledRow } from '../../../support/fake-provider.ts'
import type { HeardRow } from '../../../support/money-model.ts'
import { DISPUTE_FEE } from '../../../support/money-rows.ts'
import type { Move } from './money-happenings.ts'
import type { Kept, World } from './money-world.ts'

export const anOf = <Thing>(things: readonly Thing[], number: number): Thing | undefined =>
  things[number % things.length]

const rowOf = (world: World, payment: Payment, fields: Partial<ProviderTransaction>): ProviderTransaction =>
  settledRow(
    { providerPaymentId: payment.creditedProviderPaymentId ?? '', reference: `${payment.paymentId}-1` },
    world.deps.now(),
    { transactionId: `txn_${++world.rows}`, keptMinor: undefined, amountMinor: payment.notionalMinor, ...fields },
  )

const ownId = ({ paymentId }: Payment) => `own_${paymentId}`

const amountOf = ({ notionalMinor }: Payment, part: number) =>
  minor(part === 0 ? notionalMinor : Math.max(1, Math.floor((notionalMinor * part) / 1_000)))

type Booked = { readonly payment: Payment; readonly row: ProviderTransaction }

const book = (kept: Kept, type: HeardRow['type'], row: ProviderTransaction, amountMinor: number): Booked => {
  const isOwnRow = row.type === 'payment'
  const { transactionId, providerMinor: leg } = row
  kept.rows.push({ type, transactionId, amountMinor, leg, row, ...(isOwnRow && { isOwnRow }) })
  return { payment: kept.payment, row }
}

const bookVoid = (world: World, kept: Kept): Booked => {
  kept.isVoid = true
  const row = rowOf(world, kept.payment, { transactionId: ownId(kept.payment), status: 'reversed', returns: 'voided' })
  return book(kept, 'reversal', { ...row, providerMinor: minor(0) }, kept.payment.notionalMinor)
}

/** The provider books it once. Any number of processes may read the row, any number of times. */
const bookTake = (world: World, { which, kind, part }: Extract<Move, { do: 'take' }>): Booked | undefined => {
  const kept = anOf(world.payments, which)
  if (!kept || (kind === 'voided' && kept.isVoid)) return undefined
  if (kind === 'voided') return bookVoid(world, kept)
  const disputedMinor = amountOf(kept.payment, part)
  const amountMinor = minor(disputedMinor + (kind === 'chargeback' ? DISPUTE_FEE : 0))
  const fields = { type: 'return', returns: kind, amountMinor, providerMinor: minor(0 - amountMinor) } as const
  const row = rowOf(world, kept.payment, { ...fields, ...(kind === 'chargeback' && { disputedMinor }) })
  return book(kept, kind, row, disputedMinor)
}

const bookGive = (world: World, { which, part }: Extract<Move, { do: 'give' }>): Booked | undefined => {
  const disputed = world.payments.filter(({ rows }) => rows.some(({ type }) => type === 'chargeback'))
  const kept = anOf(disputed, which)
  if (!kept) return undefined
  const amountMinor = amountOf(kept.payment, part)
  const fields = { type: 'correction', comesAgain: true, amountMinor, providerMinor: amountMinor } as const
  return book(kept, 'dispute_won', rowOf(world, kept.payment, fields), amountMinor)
}

/** A row becomes void once. */
const bookUndo = (world: World, { which }: Extract<Move, { do: 'undo' }>): Booked | undefined => {
  const standing = world.payments.flatMap((kept) =>
    kept.rows
      .filter(
        ({ type, transactionId: id }) =>
          type !== 'reversal' && kept.rows.filter((one) => one.transactionId === id).length === 1,
      )
      .map((one) => ({ kept, one })),
  )
  const found = anOf(standing, which)
  if (!found) return undefined
  const { kept, one } = found
  return book(kept, 'reversal', { ...one.row, status: 'reversed', updatedAt: world.deps.now() }, one.row.amountMinor)
}

/** The provider settles what it has not voided, once. */
const bookSettled = (world: World, { which, feeMinor }: Extract<Move, { do: 'post' }>): Booked | undefined => {
  const kept = anOf(
    world.payments.filter(({ isVoid }) => !isVoid),
    which,
  )
  if (!kept) return undefined
  kept.settledFee ??= feeMinor
  const { payment, settledFee } = kept
  const keptMinor = minor(settledFee)
  const providerMinor = minor(payment.notionalMinor - settledFee)
  return { payment, row: rowOf(world, payment, { transactionId: ownId(payment), keptMinor, providerMinor }) }
}

/** What the provider books by a move, if the move is one of the provider's. */
export const booked = (world: World, move: Move): Booked | undefined => {
  switch (move.do) {
    case 'take':
      return bookTake(world, move)
    case 'give':
      return bookGive(world, move)
    case 'undo':
      return bookUndo(world, move)
    case 'post':
      return bookSettled(world, move)
    case 'assume':
    case 'close':
    case 'recredit':
    case 'settle':
    case 'write off':
      return undefined
  }
}
