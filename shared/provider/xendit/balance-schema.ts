import * as v from 'valibot'
import { minor } from '../../money.ts'
import type { ProviderBalance } from '../provider.ts'

/** The account that holds the money of payments until it is withdrawn. */
export const CASH_ACCOUNT = 'CASH'

/** The balance of an account (`GET /balance`), rounded down. Large chargebacks can make it negative. */
export const BalanceSchema = v.pipe(
  v.object({ balance: v.pipe(v.number(), v.minValue(Number.MIN_SAFE_INTEGER), v.maxValue(Number.MAX_SAFE_INTEGER)) }),
  v.transform(({ balance }): ProviderBalance => ({ account: CASH_ACCOUNT, amountMinor: minor(Math.floor(balance)) })),
)
