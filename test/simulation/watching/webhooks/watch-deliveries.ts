import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'
import { watchEndpointStates } from './endpoint-states.ts'
import { watchAbandonments } from './watch-abandonments.ts'
import { watchAnnouncements } from './watch-announcements.ts'
import { watchAttempts } from './watch-attempts.ts'
import { watchBatches } from './watch-batches.ts'
import { watchDeliveryRows } from './watch-delivery-rows.ts'
import { watchEndpointRows } from './watch-endpoint-rows.ts'
import { watchMessages } from './watch-messages.ts'
import { watchOutcomes } from './watch-outcomes.ts'
import { watchPosts } from './watch-posts.ts'
import { watchSuspenseAlerts } from './watch-suspense-alerts.ts'

/** From an event to its last attempt, and to the operators, who are told of what came to nothing. */
export const watchDeliveries = (world: World, seen: Observations): void => {
  const endpoints = watchEndpointStates(world)
  watchAnnouncements(world, seen, endpoints)
  watchDeliveryRows(world, seen, endpoints)
  watchAttempts(world, seen)
  watchOutcomes(world, seen)
  watchMessages(world, seen)
  watchBatches(world, seen)
  watchPosts(world, seen)
  watchEndpointRows(world, seen)
  watchAbandonments(world, seen)
  watchSuspenseAlerts(world, seen)
}
