import { scheduleHandler } from '../../shared/runtime/worker-handlers.ts'
import { syncProviderTransactions } from '../../shared/sync/sync-run.ts'

const summary =
  "Every five minutes, and on demand: compares the provider's transactions with our books. " +
  'Safe to repeat.'

export const handler = scheduleHandler({ summary }, syncProviderTransactions)
