import { text } from '../../../support/books.ts'
import type { Faults } from '../../world/faults.ts'
import { count } from '../../world/tally.ts'
import type { Scene } from '../scene.ts'
import { rounds } from '../send-again.ts'

const MINUTE_MS = 60_000
/** Shorter than the grace of an alert, some tries long, or past the quarter of an hour between two. */
const DOWN_MS = [20_000, 90_000, 90_000, 4 * MINUTE_MS, 16 * MINUTE_MS]
const SHORT_MS = DOWN_MS.slice(0, 2)
/** Longer than another round. */
const FOR_HOURS_MS = 150 * MINUTE_MS

/**
 * The operators' topic is down for minutes, just when something must be told: a delivery was given up, or money is held.
 * Meanwhile, or as soon as the topic is back, the delivery is sent again.
 */
export const silenceTopic = ({ world, tenants, seen }: Scene, faults: Faults): void => {
  const { oddities, scheduler } = world
  world.onChange.push(({ key, before, after }) => {
    const isGivenUp =
      key.sk === 'DELIVERY' && after?.['status'] === 'abandoned' && before?.['attempts'] !== after['attempts']
    const isHeld = key.sk === 'SUSPENSE' && before === undefined
    if (after === undefined || !(isGivenUp || isHeld) || world.faults !== faults) return
    if (scheduler.nowMs() < world.topicDownUntilMs || !oddities.chance(isGivenUp ? 0.2 : 0.03)) return
    const downMs = isGivenUp && oddities.chance(0.04) ? FOR_HOURS_MS : oddities.pick(isGivenUp ? DOWN_MS : SHORT_MS)
    world.topicDownUntilMs = scheduler.nowMs() + downMs
    count(world.tally, 'topic down')
    const tenant = tenants.find(({ clientId }) => clientId === after['client_id'])
    if (!isGivenUp || tenant === undefined || oddities.chance(0.3)) return
    const delivery = { id: text(after, 'delivery_id'), endpointId: text(after, 'endpoint_id') }
    const ways = rounds({ world, tenants, seen }, tenant, delivery)
    const againMs = oddities.pick([
      oddities.int(0, Math.min(downMs, 5 * MINUTE_MS)),
      downMs + oddities.int(-2_000, 90_000),
    ])
    scheduler.after(Math.max(0, againMs), () => void oddities.pick(ways)())
  })
}
