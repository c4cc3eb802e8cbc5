import type { Mutant } from '../mutation/mutant.ts'
import { ALERT_MUTANTS } from './alert-mutants.ts'
import { ATTEMPT_MUTANTS } from './attempt-mutants.ts'
import { BOOKS_MUTANTS } from './books-mutants.ts'
import { BORDER_MUTANTS } from './border-mutants.ts'
import { CALLBACK_MUTANTS } from './callback-mutants.ts'
import { CANCEL_MUTANTS } from './cancel-mutants.ts'
import { CLIENT_MUTANTS } from './client-mutants.ts'
import { CREATE_MUTANTS } from './create-mutants.ts'
import { DELIVERY_MUTANTS } from './delivery-mutants.ts'
import { DUE_WORK_MUTANTS } from './due-work-mutants.ts'
import { EVENT_MUTANTS } from './event-mutants.ts'
import { FEE_AND_SYNC_MUTANTS } from './fee-and-sync-mutants.ts'
import { OPERATOR_MUTANTS } from './operator-mutants.ts'
import { PARTS_MUTANTS } from './parts-mutants.ts'
import { PAYOUT_MUTANTS } from './payout-mutants.ts'
import { PROVIDER_NEWS_MUTANTS } from './provider-news-mutants.ts'
import { REVERSAL_MUTANTS } from './reversal-mutants.ts'
import { SETTLEMENT_MUTANTS } from './settlement-mutants.ts'

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
