import type { Process } from '../world/process.ts'
import type { World } from '../world/world.ts'
import { meet } from './meet.ts'

/** Slices of the sync: who holds one moves its due time. */
export const watchSync = (world: World): void => {
  const dead = new WeakSet<Process>()
  const holders = new Map<string, Process>()

  world.onEnded.push((process, how) => {
    if (how === 'died') dead.add(process)
  })
  world.onChange.push(({ key: { pk }, before, after }) => {
    if (!pk.startsWith('SYNC#') || before === undefined || before['due_at'] === after?.['due_at'] || !world.acting)
      return
    const holder = holders.get(pk)
    if (holder && holder !== world.acting && dead.has(holder)) meet(world, 'a slice of a dead worker is taken over')
    holders.set(pk, world.acting)
  })
}
