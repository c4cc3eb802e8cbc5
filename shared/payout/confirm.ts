import * as v from 'valibot'
import type { StoreDeps, TableDeps } from '../deps.ts'
import { GatewayError, invalid } from '../errors.ts'
import { PaymentIdSchema } from '../ids.ts'
import { getBalance } from '../ledger/ledger-store.ts'
import { ZERO } from '../money.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { bankIsNewUntil, type Settlement } from '../settlement/settlement.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { openSuspensePages } from '../suspense/suspense-store.ts'

const figure = v.optional(v.pipe(v.number(), v.safeInteger()))

/** The figures that an operator must confirm before a payout, as the 422 shows them. Zero figures are absent. */
export const ConfirmField = v.strictObject({
  /** Nets that no settled row of the provider proves, in IDR. */
  unproven: figure,
  /** The bank details are younger than 72 hours, and a change. */
  new_bank: v.optional(v.literal(true)),
  /** The client's debt apart from this settlement, in IDR. */
  owed: figure,
  /** The number of open findings that name one of its payments. */
  findings: figure,
})
export type Confirm = v.InferOutput<typeof ConfirmField>

/** A payment without a settled row is counted as unproven already. */
const ASSUMED = 'fee_assumed'

const isInSettlement = async (deps: TableDeps, { clientId, sweptFrom, sweptUntil }: Settlement, item: Suspense) => {
  const id = v.safeParse(PaymentIdSchema, item.paymentId)
  if (item.kind !== 'finding' || item.cause === ASSUMED || item.clientId !== clientId || !id.success) return false
  const payment = await findStoredPayment(deps, id.output)
  if (payment === undefined || payment.status === 'creating') return false
  return entriesOf(payment).some(({ eligibleAt }) => eligibleAt >= sweptFrom && eligibleAt < sweptUntil)
}

const openFindings = async (deps: TableDeps, settlement: Settlement): Promise<number> => {
  let count = 0
  for await (const items of openSuspensePages(deps)) {
    const named = await Promise.all(items.map((item) => isInSettlement(deps, settlement, item)))
    count += named.filter(Boolean).length
  }
  return count
}

/** The present figures of this settlement that must be confirmed. */
export const toConfirm = async (deps: StoreDeps, settlement: Settlement): Promise<Confirm> => {
  const { pendingMinor, availableMinor } = await getBalance(deps, settlement.clientId)
  const findings = await openFindings(deps, settlement)
  const owed = -(pendingMinor + availableMinor)
  return {
    ...(settlement.unprovenMinor !== ZERO && { unproven: settlement.unprovenMinor }),
    ...(deps.now() < (bankIsNewUntil(settlement) ?? '') && { new_bank: true as const }),
    ...(owed > 0 && { owed }),
    ...(findings > 0 && { findings }),
  }
}

const NAMES = ['unproven', 'new_bank', 'owed', 'findings'] as const

/** Throws 422 with the figures unless exactly those are confirmed. */
export const assertConfirmed = (wanted: Confirm, echoed: Confirm): void => {
  if (NAMES.every((name) => wanted[name] === echoed[name])) return
  throw NAMES.every((name) => wanted[name] === undefined) ? nothingToConfirm(echoed) : notConfirmed(wanted)
}

const notConfirmed = (confirm: Confirm): GatewayError =>
  invalid(
    'this settlement needs a look before it is paid out',
    undefined,
    'See get-settlement-statement and list-suspense. If all is right, repeat with "confirm" exactly as it is here.',
    { confirm },
  )

const nothingToConfirm = (echoed: Confirm): GatewayError =>
  invalid(
    'this settlement needs no such confirmation',
    {
      confirm: NAMES.filter((name) => echoed[name] !== undefined).map((name) => `${name}: there is nothing to confirm`),
    },
    'Look at the settlement again, then repeat without "confirm".',
  )
