import { text } from '../../../support/recount/books.ts'
import { namesOf } from '../../world/names-of.ts'
import type { Process } from '../../world/process.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'
import { ms, onWrite, watchClocks } from '../row-write.ts'

const QUARTER_MS = 15 * 60_000

/**
 * Checked at every message about an endpoint: its worker has taken it, by moving the endpoint's time of the last one; it
 * tells once; and due work leaves a quarter of an hour between two. That each abandoned delivery is named before its row
 * leaves the due work is checked where deliveries are.
 */
export const watchAbandonments = (world: World, seen: Observations): void => {
  const apartMs = watchClocks(world)
  /** How many messages of each endpoint a worker has taken and not published: it may tell of several deliveries at once. */
  const taken = new WeakMap<Process, Map<string, number>>()
  /** What each worker found in its place. */
  const earlier = new WeakMap<Process, Map<string, unknown>>()
  const count = (worker: Process, id: string, change: 1 | -1): boolean => {
    const of = taken.get(worker) ?? new Map<string, number>()
    const now = (of.get(id) ?? 0) + change
    if (now >= 0) taken.set(worker, of.set(id, now))
    return now >= 0
  }

  onWrite(
    world,
    ({ pk }) => pk.startsWith('ENDPOINTS#'),
    ({ before, after, worker, nowMs }) => {
      if (before === undefined || before['last_alert_at'] === after['last_alert_at']) return
      const id = text(after, 'endpoint_id')
      const own = earlier.get(worker) ?? new Map<string, unknown>()
      // Its message could not be published, as far as its worker knows.
      if (own.has(id) && own.get(id) === after['last_alert_at']) return void count(worker, id, -1)
      earlier.set(worker, own.set(id, before['last_alert_at']))
      count(worker, id, 1)
      const waitedMs = nowMs - ms(before, 'last_alert_at')
      if (worker.name === 'check-due-alerts' && waitedMs < QUARTER_MS - apartMs())
        seen.problems.push(`endpoint ${id} is told of too soon after the last message`)
    },
  )

  world.onTold.push(({ kind, subject }, worker) => {
    if (kind !== 'delivery.abandoned') return
    // A frozen worker's message goes out under the name of the one that thawed its environment.
    if (!namesOf(world, worker).some((one) => count(one, subject, -1)))
      seen.problems.push(`endpoint ${subject} is told of by a worker that has not taken the message`)
  })
}
