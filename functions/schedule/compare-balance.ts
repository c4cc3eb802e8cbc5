import { compareBalance } from '../../shared/books/compare-balance.ts'
import { scheduleHandler } from '../../shared/runtime/worker-handlers.ts'

export const handler = scheduleHandler(
  {
    summary:
      'Every ten minutes, and on demand: once a day compares the provider’s own balance with the ' +
      'journal, and alerts when they differ on three days. Safe to repeat.',
  },
  compareBalance,
)
