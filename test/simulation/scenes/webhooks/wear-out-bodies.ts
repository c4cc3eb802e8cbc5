import { text } from '../../../support/books.ts'
import type { Faults } from '../../world/faults.ts'
import { count } from '../../world/tally.ts'
import type { Scene } from '../scene.ts'

/** Until its delivery is nearly overdue. */
const NEARLY_OVERDUE_MS = 115_000

/**
 * What lies beside a payment is asked for too often just when its event goes out: for some seconds nobody can read it, or
 * until due work comes by.
 */
export const wearOutBodies = ({ world }: Scene, faults: Faults): void => {
  const { oddities, scheduler, unreadUntilMs } = world
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'DELIVERY' || before !== undefined || after?.['payment_id'] === undefined) return
    if (world.faults !== faults || !oddities.chance(0.1)) return
    count(world.tally, 'bodies cannot be read')
    const forMs = oddities.pick([oddities.int(100, 5_000), oddities.int(100, 5_000), NEARLY_OVERDUE_MS])
    unreadUntilMs.set(`PAYMENT#${text(after, 'payment_id')}`, scheduler.nowMs() + forMs)
  })
}
