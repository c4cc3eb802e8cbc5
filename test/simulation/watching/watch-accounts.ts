import { isDeepStrictEqual } from 'node:util'
import { text } from '../../support/recount/books.ts'
import { onWorkersWrite, watchStates } from '../world/rules.ts'
import type { World } from '../world/world.ts'

/** Checked at every record of a settlement (design section 4): its account is one that the client had after the sum was read. */
export const watchAccounts = (world: World): void => {
  const { since } = watchStates(world, / CLIENT$/, 'client_id')

  onWorkersWrite(world, / SETTLEMENT$/, ({ key, after, isNew, worker }) => {
    const listedMs = world.listedMs.get(worker)
    if (!isNew || listedMs === undefined) return
    const hadIt = since(text(after, 'client_id'), listedMs).some(({ bank }) => isDeepStrictEqual(bank, after['bank']))
    if (!hadIt)
      world.problems.push(`${key.pk} names a bank account that its client no longer had when the entries were read`)
  })
}
