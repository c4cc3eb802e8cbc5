import { scheduleHandler } from '../../shared/runtime/worker-handlers.ts'
import { syncProviderTransactions } from '../../shared/sync/sync-run.ts'

export const handler = scheduleHandler(
  {
    summary:
      "Every five minutes, and on demand: compares the provider's transactions with our books. " +
      'Safe to repeat.',
  },
  syncProviderTransactions,
)
