import type { Process } from '../../world/process.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'

const FAILED = '"message.failed"'

/** Checked at every batch of a queue: what has failed goes back to its queue, and nothing else does. */
export const watchBatches = (world: World, seen: Observations): void => {
  const failures = new WeakMap<Process, Set<string>>()

  world.onError.push((process, _, line) => {
    if (!line.includes(FAILED)) return
    const { message_id: id } = JSON.parse(line) as { readonly message_id?: unknown }
    failures.set(process, (failures.get(process) ?? new Set()).add(String(id)))
  })

  world.onHandedBack.push((process, messages, failed) => {
    for (const { messageId } of messages) {
      const hasFailed = failures.get(process)?.has(messageId) === true
      if (hasFailed && !failed.has(messageId))
        seen.problems.push(`${process.name}: ${messageId} has failed, and is taken off its queue`)
      if (!hasFailed && failed.has(messageId))
        seen.problems.push(`${process.name}: ${messageId} goes back to its queue, and nothing is wrong with it`)
    }
  })
}
