import type { World } from '../world/world.ts'
import { meet } from './meet.ts'

/** Writes that were done, and whose answer never came: by the change that was made in the same step of the world. */
export const watchLostAnswers = (world: World): void => {
  let last: { readonly step: number; readonly from: unknown; readonly to: unknown } | undefined

  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || before?.['status'] === after?.['status']) return
    last = { step: world.scheduler.steps(), from: before?.['status'], to: after?.['status'] }
  })
  world.onFault.push((fault) => {
    if (fault !== 'tableAnswerLost' || last?.step !== world.scheduler.steps()) return
    if (last.from === 'creating' && last.to === 'pending') meet(world, 'a create is committed and its answer lost')
    if (last.to === 'succeeded') meet(world, 'a success is committed and its answer lost')
  })
}
