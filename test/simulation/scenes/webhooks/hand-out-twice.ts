import type { Faults } from '../../world/faults.ts'
import { invoke } from '../../world/lambda.ts'
import type { Scene } from '../scene.ts'

/** What is due of deliveries and alerts; payments have meetings of their own. */
const DUE = /^check-due-(deliveries|alerts)$/
/** Within what one of them takes from its first call to its last. */
const AT_ONCE_MS = 30

/** A queue hands a message of due work to two workers at once, as it may: both have read the same before either writes. */
export const handOutTwice = ({ world }: Scene, faults: Faults): void => {
  const { oddities, scheduler } = world
  let isSecond = false
  world.onStarted.push(({ name }, event) => {
    if (isSecond || !DUE.test(name) || world.faults !== faults || !oddities.chance(0.15)) return
    scheduler.after(oddities.int(0, AT_ONCE_MS), () => {
      isSecond = true
      void invoke(world, name, event)
      isSecond = false
    })
  })
}
