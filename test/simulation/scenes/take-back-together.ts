import { text } from '../../support/recount/books.ts'
import { stageOf } from '../sometimes/reversal-stages.ts'
import { passed } from '../world/drive.ts'
import { operate } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import { takeBack } from './odd-rows.ts'
import type { Scene } from './scene.ts'
import { sellMany } from './sell-many.ts'

const MOST = 4

const WAITS_MS = [10 * 60_000, 3 * 3_600_000]

/** A client sells to several; later money of them goes back at once, of those that are not settled yet where there are some. */
export const takeBackTogether = async (scene: Scene): Promise<void> => {
  const { world } = scene
  const { oddities, table } = world
  await sellMany(scene, world.prng.pick(scene.tenants))
  await passed(world, world.prng.pick(WAITS_MS))
  const credited = table.items('PAYMENT#').filter(({ sk, status }) => sk === 'PAYMENT' && status === 'succeeded')
  if (credited.length === 0) return
  const clientId = oddities.pick(credited)['client_id']
  const own = credited.filter((payment) => payment['client_id'] === clientId)
  const unsettled = own.filter(
    (payment) => ['open', 'posted'].includes(stageOf(world, payment)) && payment['reversal'] === undefined,
  )
  const meant = (unsettled.length > 1 ? unsettled : own).slice(-MOST).map(({ pk }) => pk)
  for (const pk of meant) takeBack(world, 1, (payment) => payment['pk'] === pk)
  count(world.tally, `taken back together: ${meant.length}`)
  if (world.prng.chance(0.5)) return
  const [one] = meant
  const about = { client_id: clientId }
  await Promise.all([
    operate(world, 'trigger-settlement', about),
    operate(world, 'refresh-payment', { payment_id: text({ one }, 'one').slice('PAYMENT#'.length) }),
  ])
}
