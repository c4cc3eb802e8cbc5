import { findClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { MINUTE_MS } from '../time.ts'
import { readClientVerdict } from '../verdict/client-verdict-store.ts'
import type { Difference } from '../verdict/difference.ts'
import { noteFound, tellStanding } from '../verdict/note-found.ts'
import { dayNumber, partsOf, slicesSince } from './audit-parts.ts'
import { believed } from './believed.ts'
import { tellOwing } from './tell-owing.ts'

export type RunDeps = Pick<Deps, 'table' | 'stage' | 'queues' | 'alerts' | 'sleep' | 'now' | 'monotonicMs' | 'log'>

/** After this time a run begins no part and no second look, which may wait two minutes: its function has five. */
const RUN_MS = 2 * MINUTE_MS

/**
 * Audits one client, daily (design section 4, "Audit"): its kept figures, its open tail, its bank details, standing
 * differences, and the due slices of its history; within thirty days all of it. A long audit continues in further runs,
 * each of which stores its progress and sends the next message. A difference stands on the client until it is gone or
 * accepted, and is reported each day. Safe to repeat: it changes no money.
 */
export const auditClient = async (deps: RunDeps, clientId: ClientId): Promise<void> => {
  const client = await findClient(deps, clientId)
  if (client === undefined) return
  const verdict = await readClientVerdict(deps, clientId)
  const today = dayNumber(deps.now())
  if (verdict.auditedDay === today) return
  const day = verdict.progress?.day ?? today
  // Standing differences are judged again every day.
  const standing = new Set(verdict.standing.map(({ part }) => part))
  const parts = await partsOf(deps, client, slicesSince(verdict.auditedDay, day), standing)
  const endsAtMs = deps.monotonicMs() + RUN_MS
  const hasTime = () => deps.monotonicMs() < endsAtMs
  const { pages } = deps.stage.historySteps ?? { pages: Number.POSITIVE_INFINITY }
  const found = new Map<string, readonly Difference[]>()
  const done = verdict.progress?.done ?? ''
  const left = parts.filter(({ key }) => key > done)
  for (const [at, { key, judge }] of left.entries()) {
    if (at >= pages || (at > 0 && !hasTime())) {
      await noteFound(deps, clientId, found, { progress: { day, done: left[at - 1]?.key ?? done } })
      await deps.queues.send('audits', { body: { client_id: clientId }, delaySeconds: 0, group: clientId })
      return
    }
    const { differences, isInconclusive } = await believed(deps, judge, hasTime)
    // A part that moves too much to be judged keeps its differences until tomorrow.
    if (!isInconclusive) found.set(key, differences)
  }
  const owing = await tellOwing(deps, clientId, verdict)
  const stands = await noteFound(deps, clientId, found, { auditedDay: day, progress: undefined, ...owing })
  deps.log.info('audit.completed', { client_id: clientId, balanced: String(stands.length === 0) })
  await tellStanding(deps, clientId, stands)
}
