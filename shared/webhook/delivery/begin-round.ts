import type { Deps } from '../../deps.ts'
import { type GatewayError, invalid } from '../../errors.ts'
import type { Step } from '../../table/step.ts'
import type { TransactOutcome } from '../../table/table.ts'
import type { Timestamp } from '../../time.ts'
import type { Delivery } from './delivery.ts'
import { keepEvent, mayBeginRound, ROUNDS_A_DAY, startRound } from './round-store.ts'
import { type InLane, sendDeliveryMessage } from './send-delivery-message.ts'
import { tellFirst } from './tell-abandoned.ts'

export type RoundDeps = Pick<Deps, 'table' | 'queues' | 'alerts' | 'log' | 'now'>

export type RoundSteps = { readonly delivery: Step; readonly event: Step | undefined }
/** All of them or none; an operator's with its audit record. */
type Write = (steps: RoundSteps) => Promise<TransactOutcome<keyof RoundSteps>>

/** Why a caller may not begin a round of this delivery now; undefined when it may. */
export const refusedRound = (delivery: Delivery, now: Timestamp): GatewayError | undefined =>
  delivery.status === 'scheduled' || mayBeginRound(delivery, now)
    ? undefined
    : invalid(
        `${ROUNDS_A_DAY} rounds of the delivery were begun today`,
        undefined,
        'Correct the endpoint, and redeliver after 00:00 UTC.',
      )

/**
 * Starts a new round of attempts on a finished delivery: the same row, event id and bytes. Answers the delivery as it
 * then is. Undefined when it is in progress, has no round left today, or another caller has just begun one. Unreported
 * abandonments of its endpoint are reported first. After a crash before the message, due work sends it within minutes.
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
  const event = paymentId && body === undefined ? await keepEvent(deps, { paymentId, name, firedAt }) : undefined
  const now = deps.now()
  if (!mayBeginRound(delivery, now)) return undefined
  const outcome = await write({
    delivery: startRound(delivery, now),
    event,
  })
  if (!outcome.applied && outcome.refusedBy === 'event') throw invalid('the event is no longer kept')
  if (!outcome.applied) return undefined
  await sendDeliveryMessage(deps, delivery, lane, 0)
  return { ...delivery, status: 'scheduled', nextAttemptAt: now, roundStart: delivery.attempts }
}
