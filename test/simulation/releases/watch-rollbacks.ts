import { QUEUE_NAMES } from '../../../shared/queues.ts'
import { text } from '../../support/books.ts'
import { readsFrom } from '../triggers/sources.ts'
import type { Process } from '../world/process.ts'
import type { World } from '../world/world.ts'
import { meetOther } from './meetings.ts'
import type { Out } from './start-two-releases.ts'

/** Counts what an update or a rollback comes into the midst of. Answers whom to tell of each, once it has come about. */
export const watchRollbacks = (world: World): ((out: Out) => void) => {
  const underWay = new Set<Process>()
  let was: Out = 'former'
  let hasGoneBack = false
  let hasBeenOut = false

  world.onStarted.push((process) => {
    const isBoth = [...underWay].some(({ name, isFormer }) => name === process.name && isFormer !== process.isFormer)
    if (isBoth) meetOther(world, 'a function runs as both at once')
    if (process.name === 'api-not-found') meetOther(world, 'a merchant asks for what only this release has')
    underWay.add(process)
  })
  world.onEnded.push((process) => {
    underWay.delete(process)
    const isBehind = (was === 'former' && !process.isFormer) || (was === 'now' && process.isFormer)
    if (isBehind) meetOther(world, 'a run ends behind its release')
  })

  const onRollback = () => {
    const items = world.table.items()
    if (items.some((item) => item['status'] === 'creating' && item['lease_until'] !== undefined))
      meetOther(world, 'a rollback meets a create under way')
    if ([...underWay].some(({ name, isFormer }) => name === 'deliver-webhook' && !isFormer))
      if (items.some(({ sk, claim_token: claim }) => sk === 'DELIVERY' && claim !== undefined))
        meetOther(world, 'a rollback meets a claimed attempt')
    if (items.some(({ pk }) => text({ pk }, 'pk').endsWith('#WINDOWS')))
      meetOther(world, 'a rollback meets a half-summed window')
    const unread = QUEUE_NAMES.filter(
      (queue) => ![...world.functions.keys()].some((name) => readsFrom(world, name, queue)),
    )
    if (unread.some((queue) => world.queues[queue].nextDueMs() !== undefined))
      meetOther(world, 'a rollback leaves messages to nobody')
  }

  return (out) => {
    const isRollback = hasBeenOut && out !== 'now' && was === 'now'
    if (isRollback) onRollback()
    if (was === 'both' && out === 'former') meetOther(world, 'an update is taken back')
    if (out === 'now' && hasGoneBack) meetOther(world, 'a rollback is rolled forward')
    hasGoneBack ||= isRollback
    hasBeenOut ||= out === 'now'
    was = out
  }
}
