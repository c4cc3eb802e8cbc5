import { text } from '../../support/books.ts'
import type { World } from '../world/world.ts'

/** Notes what the release before does otherwise, as docs/decisions.md says, for those who check what this one promises. */
export const watchFormer = (world: World): void => {
  world.onChange.push(({ key, before, after }) => {
    if (world.acting?.isFormer !== true || after === undefined) return
    world.endless.add(`${key.pk} ${key.sk}`)
    const isShown = text(after, 'status') !== 'creating' && (before === undefined || before['status'] === 'creating')
    if (key.sk === 'PAYMENT' && isShown) world.unreferenced.add(text(after, 'payment_id'))
  })
}
