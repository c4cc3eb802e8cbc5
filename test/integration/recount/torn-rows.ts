import { minor } from '../../../shared/money.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import type { MemoryDeps } from '../../support/memory-deps.ts'
import { type PaidUpstream, rowNow } from '../../support/synced-payment.ts'

export const NOT_KEPT = { keptMinor: undefined, settledAt: undefined } as const

export const refundRow = (deps: MemoryDeps, paid: PaidUpstream, amountMinor: number): ProviderTransaction =>
  rowNow(deps, paid, {
    ...NOT_KEPT,
    transactionId: `txn-refund-${amountMinor}`,
    type: 'return',
    returns: 'refund',
    amountMinor: minor(amountMinor),
    providerMinor: minor(-amountMinor),
  })

export const chargebackRow = (deps: MemoryDeps, paid: PaidUpstream): ProviderTransaction =>
  rowNow(deps, paid, {
    ...NOT_KEPT,
    transactionId: 'txn-dispute',
    type: 'return',
    returns: 'chargeback',
    amountMinor: minor(45_000),
    disputedMinor: minor(40_000),
    providerMinor: minor(-45_000),
  })

export const wonRow = (deps: MemoryDeps, paid: PaidUpstream): ProviderTransaction =>
  rowNow(deps, paid, {
    ...NOT_KEPT,
    transactionId: 'txn-won',
    type: 'correction',
    comesAgain: true,
    amountMinor: minor(40_000),
    providerMinor: minor(40_000),
  })

export const voidRow = (deps: MemoryDeps, paid: PaidUpstream): ProviderTransaction =>
  rowNow(deps, paid, { transactionId: `txn_${paid.payment.paymentId}`, status: 'reversed', returns: 'voided' })

export const ownRow = (deps: MemoryDeps, paid: PaidUpstream): ProviderTransaction =>
  rowNow(deps, paid, { transactionId: `txn_${paid.payment.paymentId}` })
