import type { World } from '../world/world.ts'
import { watchReversals } from './reversal-stages.ts'
import { watchCreates } from './watch-creates.ts'
import { watchDeliveries } from './watch-deliveries.ts'
import { watchLostAnswers } from './watch-lost-answers.ts'
import { watchNews } from './watch-news.ts'
import { watchSettlements } from './watch-settlements.ts'
import { watchSync } from './watch-sync.ts'

/** Counts the situations of `situations.ts` as they come about. */
export const watchSituations = (world: World): void => {
  for (const watch of [
    watchCreates,
    watchLostAnswers,
    watchNews,
    watchDeliveries,
    watchSettlements,
    watchSync,
    watchReversals,
  ])
    watch(world)
}
