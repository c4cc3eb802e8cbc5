import * as v from 'valibot'
import { minor } from '../../money.ts'
import type { ProviderBalance } from '../provider.ts'

/** What an account at the provider holds (`GET /balance`), rounded down. It is below zero after large chargebacks. */
export const BalanceSchema = v.pipe(
  v.object({ balance: v.pipe(v.number(), v.minValue(Number.MIN_SAFE_INTEGER), v.maxValue(Number.MAX_SAFE_INTEGER)) }),
  v.transform(({ balance }): ProviderBalance => ({ amountMinor: minor(Math.floor(balance)) })),
)
