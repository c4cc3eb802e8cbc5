import type { StoredItem } from '../../../../infra/local/emulators/memory-table/stored-item.ts'
import { text } from '../../../support/recount/books.ts'
import { meet } from '../../sometimes/meet.ts'
import type { Faults } from '../../world/faults.ts'
import type { Scene } from '../scene.ts'
import { rounds } from '../send-again.ts'

const MINUTE_MS = 60_000
/** Shorter than the grace of an alert, some tries long, or past the quarter of an hour between two. */
const DOWN_MS = [20_000, 90_000, 90_000, 4 * MINUTE_MS, 16 * MINUTE_MS]
const SHORT_MS = DOWN_MS.slice(0, 2)
/** Longer than another round. */
const FOR_HOURS_MS = 150 * MINUTE_MS

/** Everybody begins rounds of it who may, one of them. */
const sendAgain = (play: Scene, row: StoredItem, afterMs: number): void => {
  const tenant = play.tenants.find(({ clientId }) => clientId === row['client_id'])
  if (tenant === undefined) return
  const ways = rounds(play, tenant, { id: text(row, 'delivery_id'), endpointId: text(row, 'endpoint_id') })
  play.world.scheduler.after(Math.max(0, afterMs), () => void play.world.oddities.pick(ways)())
}

/** Its server takes no connection for one round more. */
const refuseOn = ({ world: { merchants, scheduler } }: Scene, url: string): void => {
  if (merchants.ailing.has(url)) return
  merchants.ailing.set(url, 'refuses')
  scheduler.after(FOR_HOURS_MS, () => void merchants.ailing.delete(url))
}

/**
 * The operators' topic is down for minutes, just when something must be told: a delivery was given up, or money is held.
 * Meanwhile, or as soon as the topic is back, the delivery is sent again; or it is given up once more before anybody was
 * told of the first time.
 */
export const silenceTopic = (play: Scene, faults: Faults): void => {
  const { world } = play
  const { oddities, scheduler } = world
  world.onChange.push(({ key, before, after }) => {
    const isGivenUp =
      key.sk === 'DELIVERY' && after?.['status'] === 'abandoned' && before?.['attempts'] !== after['attempts']
    const isHeld = key.sk === 'SUSPENSE' && before === undefined
    if (after === undefined || !(isGivenUp || isHeld) || world.faults !== faults) return
    if (scheduler.nowMs() < world.topicDownUntilMs || !oddities.chance(isGivenUp ? 0.2 : 0.03)) return
    const isForHours = isGivenUp && oddities.chance(0.06)
    const downMs = isForHours ? FOR_HOURS_MS : oddities.pick(isGivenUp ? DOWN_MS : SHORT_MS)
    world.topicDownUntilMs = scheduler.nowMs() + downMs
    if (isGivenUp) meet(world, 'the topic is down when a delivery is given up')
    if (isForHours) refuseOn(play, text(after, 'url'))
    const soonMs = oddities.int(1_000, Math.min(downMs, MINUTE_MS))
    if (isForHours) sendAgain(play, after, soonMs)
    else if (isGivenUp && oddities.chance(0.7))
      sendAgain(play, after, oddities.pick([soonMs, downMs + oddities.int(-2_000, 90_000)]))
  })
}

/** Within what telling takes. */
const AT_ONCE_MS = 40

/** A delivery is sent again while the message that names it is on its way to the operators. */
export const sendAgainWhileTold = (play: Scene, faults: Faults): void => {
  const { world } = play
  const { oddities, table } = world
  world.onChange.push(({ before, after }) => {
    if (before === undefined || before['last_alert_at'] === after?.['last_alert_at']) return
    if (world.faults !== faults || !oddities.chance(0.3)) return
    const rows = table
      .items()
      .filter((item) => item['endpoint_id'] === before['endpoint_id'] && item['work'] === 'alert')
    if (rows.length > 0) sendAgain(play, oddities.pick(rows), oddities.int(0, AT_ONCE_MS))
  })
}
