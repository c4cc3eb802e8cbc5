import type { Deps } from '../../deps.ts'
import { findEvent, postponeEvent } from '../../event/event-store.ts'
import type { Key } from '../../table/keys.ts'
import { addMs, MINUTE_MS } from '../../time.ts'
import { fanOutEvent } from './fan-out-event.ts'

const TRY_AGAIN_MS = 2 * MINUTE_MS

/** Due work `event`: fans out what the stream lost. Answers whether there was anything to do. */
export const checkOverdueEvent = async (
  deps: Pick<Deps, 'table' | 'queues' | 'log' | 'now'>,
  key: Key,
): Promise<boolean> => {
  const event = await findEvent(deps, key)
  if (event?.dueAt === undefined || event.dueAt > deps.now()) return false
  if (!(await postponeEvent(deps, event, addMs(deps.now(), TRY_AGAIN_MS)))) return false
  await fanOutEvent(deps, event)
  return true
}
