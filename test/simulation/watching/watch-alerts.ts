import { text } from '../../support/recount/books.ts'
import { meet } from '../sometimes/meet.ts'
import type { Process } from '../world/process.ts'
import type { World } from '../world/world.ts'
import { watchStarts } from './row-write.ts'

type Abandoned = { readonly id: string; readonly atMs: number }
type Told = { readonly message: string; readonly process: Process; readonly atMs: number; readonly startedMs: number }

/**
 * Once everything rests: every abandonment is named in a message. In a second one only where workers told at the same
 * time, or one came to no good end after the first, which it had no time to note.
 */
export const watchAlerts = (world: World): (() => readonly string[]) => {
  const abandoned: Abandoned[] = []
  const told: Told[] = []
  const failed = new WeakSet<Process>()
  const endedMs = new WeakMap<Process, number>()
  const startedMs = watchStarts(world)
  const now = () => world.scheduler.nowMs()
  world.onChange.push(({ key, before, after }) => {
    const isNew = after?.['status'] === 'abandoned' && before?.['attempts'] !== after['attempts']
    if (key.sk === 'DELIVERY' && isNew) abandoned.push({ id: text(after, 'delivery_id'), atMs: now() })
  })
  world.onTold.push(({ kind, message }, process) => {
    if (kind === 'delivery.abandoned') told.push({ message, process, atMs: now(), startedMs: startedMs(process) })
  })
  world.onError.push((process) => failed.add(process))
  world.onEnded.push((process, how) => {
    // What an earlier invocation left told under this one's name, and ends with neither of them.
    if (how === 'done' && !failed.has(process) && !world.sharing.has(process)) endedMs.set(process, now())
  })

  return () =>
    abandoned.flatMap(({ id, atMs }, at) => {
      const untilMs = abandoned.find((other, index) => index > at && other.id === id)?.atMs ?? Number.POSITIVE_INFINITY
      const naming = told.filter((one) => one.message.includes(id) && one.atMs >= atMs && one.atMs < untilMs)
      const isNoted = (one: Told, sinceMs: number) =>
        one.startedMs >= atMs && (endedMs.get(one.process) ?? Number.POSITIVE_INFINITY) < sinceMs
      if (naming.length === 0) return [`delivery ${id} was abandoned, and no alert names it`]
      if (naming.length > 1) meet(world, 'an alert is repeated after a crash')
      return naming.some(({ startedMs: begunMs }) => naming.some((one) => isNoted(one, begunMs)))
        ? [`delivery ${id} was abandoned once, and named again when that was noted`]
        : []
    })
}
