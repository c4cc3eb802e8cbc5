import type { Deps } from '../../deps.ts'
import { invalid } from '../../errors.ts'
import { keepEvent } from '../../event/event-store.ts'
import type { Step } from '../../table/step.ts'
import type { TransactOutcome } from '../../table/table.ts'
import type { Delivery } from './delivery.ts'
import { startRound } from './delivery-store.ts'
import { type InLane, sendDeliveryMessage } from './send-delivery-message.ts'
import { tellFirst } from './tell-abandoned.ts'

export type RoundDeps = Pick<Deps, 'table' | 'queues' | 'alerts' | 'log' | 'now'>

type RoundSteps = { readonly delivery: Step; readonly event: Step | undefined }
/** All or none of them; an operator's with its audit record. */
type Write = (steps: RoundSteps) => Promise<TransactOutcome<keyof RoundSteps>>

/**
 * Starts a new round of attempts on a finished delivery: the same row, event id and bytes. Answers it as it is then;
 * undefined when it is in progress, or somebody else has just started one. What the operators have not been told of its
 * endpoint is told before. A crash before the message leaves the row to due work, which sends it within
 * minutes.
 */
export const beginRound = async (
  deps: RoundDeps,
  { delivery: met, lane }: InLane,
  write: Write,
): Promise<Delivery | undefined> => {
  if (met.status === 'scheduled') return undefined
  const delivery = await tellFirst(deps, met)
  if (!delivery) return undefined
  const { paymentId, body, eventName: name, firedAt } = delivery
  const now = deps.now()
  const outcome = await write({
    delivery: startRound(delivery, now),
    event: paymentId && body === undefined ? keepEvent({ paymentId, name, firedAt }, now) : undefined,
  })
  if (!outcome.applied && outcome.refusedBy === 'event') throw invalid('the event is no longer kept')
  if (!outcome.applied) return undefined
  await sendDeliveryMessage(deps, delivery, lane, 0)
  return { ...delivery, status: 'scheduled', nextAttemptAt: now, roundStart: delivery.attempts }
}
