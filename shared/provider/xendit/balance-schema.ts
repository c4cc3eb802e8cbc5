import * as v from 'valibot'
import { minor } from '../../money.ts'
import type { ProviderBalance } from '../provider.ts'

/** Holds what payments brought, until it is withdrawn. */
export const CASH_ACCOUNT = 'CASH'

/** What an account at the provider holds (`GET /balance`), rounded down. It is below zero after large chargebacks. */
export const BalanceSchema = v.pipe(
  v.object({ balance: v.pipe(v.number(), v.minValue(Number.MIN_SAFE_INTEGER), v.maxValue(Number.MAX_SAFE_INTEGER)) }),
  v.transform(({ balance }): ProviderBalance => ({ account: CASH_ACCOUNT, amountMinor: minor(Math.floor(balance)) })),
)
