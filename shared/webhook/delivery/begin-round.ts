import type { Deps } from '../../deps.ts'
import { invalid } from '../../errors.ts'
import { keepEvent } from '../../event/event-store.ts'
import type { Step } from '../../table/step.ts'
import type { TransactOutcome } from '../../table/table.ts'
import type { Delivery } from './delivery.ts'
import { findDelivery, startRound } from './delivery-store.ts'
import { type InLane, sendDeliveryMessage } from './send-delivery-message.ts'
import { freeOwedAlert, needsAlert } from './tell-abandonments.ts'

export type RoundDeps = Pick<Deps, 'table' | 'queues' | 'log' | 'now'>

type RoundSteps = { readonly delivery: Step; readonly event: Step | undefined }
/** All or none of them; an operator's with its audit record. */
type Write = (steps: RoundSteps) => Promise<TransactOutcome<keyof RoundSteps>>

/**
 * Starts a new round of attempts on a finished delivery: the same row, event id and bytes. Answers it as it is then;
 * undefined when it is in progress, or somebody else has just started one. An alert that is still owed stands by itself
 * from then on, and goes out in its time. A crash before the message leaves the row to due work, which sends it within
 * minutes.
 */
export const beginRound = async (
  deps: RoundDeps,
  { delivery, lane }: InLane,
  write: Write,
): Promise<Delivery | undefined> => {
  if (delivery.status === 'scheduled') return undefined
  await freeWaitingAlert(deps, delivery)
  const { paymentId, body, eventType } = delivery
  const now = deps.now()
  const outcome = await write({
    delivery: startRound(delivery, now),
    event: paymentId && body === undefined ? keepEvent({ paymentId, eventType }, now) : undefined,
  })
  if (!outcome.applied && outcome.refusedBy === 'event') throw invalid('the event is no longer kept')
  if (!outcome.applied) return undefined
  await sendDeliveryMessage(deps, delivery, lane, 0)
  return { ...delivery, status: 'scheduled', nextAttemptAt: now, roundStart: delivery.attempts }
}

/** Due work puts off an alert once or twice until its turn comes. */
const MAX_TRIES = 4

/** Frees an alert that the row owes, even one that was put off since the row was read: the round will take its place. */
const freeWaitingAlert = async (deps: RoundDeps, met: Delivery): Promise<void> => {
  let delivery = met
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    if (!needsAlert(delivery) || (await freeOwedAlert(deps, delivery))) return
    const current = await findDelivery(deps, delivery.deliveryId)
    // The alert of another round is not this one's to free.
    if (current?.attempts !== delivery.attempts) return
    delivery = current
  }
  throw new Error('an alert kept being put off while a round was begun')
}
