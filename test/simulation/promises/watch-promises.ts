import type { Observations } from '../watching/observations.ts'
import type { World } from '../world/world.ts'
import { watchAcknowledged } from './watch-acknowledged.ts'
import { watchClosing } from './watch-closing.ts'
import { watchDuties } from './watch-duties.ts'
import { watchFees } from './watch-fees.ts'
import { watchLastWord } from './watch-last-word.ts'
import { watchOrphans } from './watch-orphans.ts'
import { watchPushClaims } from './watch-push-claims.ts'
import { watchPushes } from './watch-pushes.ts'
import { watchSettling } from './watch-settling.ts'
import { watchStrangeRows } from './watch-strange-rows.ts'

/** Whatever the gateway has promised of money, destinations and duties, watched as it happens; the rest once all rests. */
export const watchPromises = (world: World, seen: Observations): (() => readonly string[]) => {
  watchClosing(world, seen)
  watchLastWord(world, seen)
  watchAcknowledged(world, seen)
  watchPushClaims(world, seen)
  watchDuties(world, seen)
  const atRest = [
    watchSettling(world, seen),
    watchFees(world, seen),
    watchOrphans(world, seen),
    watchPushes(world),
    watchStrangeRows(world),
  ]
  return () => atRest.flatMap((problems) => problems())
}
