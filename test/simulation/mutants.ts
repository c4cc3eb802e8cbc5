import { ALERT_MUTANTS } from './mutants/alert-mutants.ts'
import { ATTEMPT_MUTANTS } from './mutants/attempt-mutants.ts'
import { BOOKS_MUTANTS } from './mutants/books-mutants.ts'
import { BORDER_MUTANTS } from './mutants/border-mutants.ts'
import { CALLBACK_MUTANTS } from './mutants/callback-mutants.ts'
import { CANCEL_MUTANTS } from './mutants/cancel-mutants.ts'
import { CLIENT_MUTANTS } from './mutants/client-mutants.ts'
import { CREATE_MUTANTS } from './mutants/create-mutants.ts'
import { DELIVERY_MUTANTS } from './mutants/delivery-mutants.ts'
import { DUE_WORK_MUTANTS } from './mutants/due-work-mutants.ts'
import { EVENT_MUTANTS } from './mutants/event-mutants.ts'
import { FEE_AND_SYNC_MUTANTS } from './mutants/fee-and-sync-mutants.ts'
import { OPERATOR_MUTANTS } from './mutants/operator-mutants.ts'
import { PARTS_MUTANTS } from './mutants/parts-mutants.ts'
import { PAYOUT_MUTANTS } from './mutants/payout-mutants.ts'
import { PROVIDER_NEWS_MUTANTS } from './mutants/provider-news-mutants.ts'
import { REVERSAL_MUTANTS } from './mutants/reversal-mutants.ts'
import { SETTLEMENT_MUTANTS } from './mutants/settlement-mutants.ts'
import type { Mutant } from './mutation/mutant.ts'

/** Every way in which `npm run mutants` breaks the gateway, in the order of the money. */
export const MUTANTS: readonly Mutant[] = [
  ...CREATE_MUTANTS,
  ...PROVIDER_NEWS_MUTANTS,
  ...CALLBACK_MUTANTS,
  ...DUE_WORK_MUTANTS,
  ...CANCEL_MUTANTS,
  ...EVENT_MUTANTS,
  ...DELIVERY_MUTANTS,
  ...ATTEMPT_MUTANTS,
  ...ALERT_MUTANTS,
  ...FEE_AND_SYNC_MUTANTS,
  ...SETTLEMENT_MUTANTS,
  ...REVERSAL_MUTANTS,
  ...BOOKS_MUTANTS,
  ...PAYOUT_MUTANTS,
  ...PARTS_MUTANTS,
  ...CLIENT_MUTANTS,
  ...OPERATOR_MUTANTS,
  ...BORDER_MUTANTS,
]
