import { isPushChannel } from '../../channel/channels.ts'
import type { Deps } from '../../deps.ts'
import { limitError } from '../../errors.ts'
import { referenceOf } from '../../ids.ts'
import type { StageSettings } from '../../stage-settings.ts'
import type { Item } from '../../table/attributes.ts'
import { expiresAfter, MINUTE_MS, msBetween, SECOND_MS } from '../../time.ts'
import type { CreatingPayment } from '../payment.ts'
import { pushesIn, putPushes } from './push-store.ts'

type PushLimit = NonNullable<StageSettings['pushLimit']>

/**
 * Counts a push before it is sent. Or refuses it with 429 `rate_limit`, and gives the provider's
 * call back: a client may send one phone only so many pushes in a time. The same attempt is counted
 * once, also after a crash. A push that was never sent only makes the limit stricter.
 */
export async function takePush(
  deps: Pick<Deps, 'table' | 'stage' | 'now'>,
  creating: Pick<CreatingPayment, 'clientId' | 'paymentId' | 'attempt' | 'request'>,
  giveBackCall: () => Promise<unknown>,
): Promise<void> {
  const { clientId, request } = creating
  const limit = deps.stage.pushLimit
  const phone = isPushChannel(request) ? request.customer?.phone : undefined
  if (limit === undefined || phone === undefined) return
  const reference = referenceOf(creating.paymentId, creating.attempt)
  const windowMs = limit.minutes * MINUTE_MS
  // Most phones get one push, so the first write expects no row: a refusal answers the row.
  let item: Item | undefined
  // Each later lost race is a push of another caller, so the limit is used up after so many.
  for (let tried = 0; tried <= limit.pushes + 1; tried++) {
    const now = deps.now()
    // A later push than of now was counted by a clock that ran ahead.
    const sentBefore = pushesIn(item)?.sent ?? []
    const recent = sentBefore.filter(({ at }) => Math.abs(msBetween(at, now)) < windowMs)
    if (recent.some((push) => push.reference === reference)) return
    const oldest = recent.at(-limit.pushes)
    if (oldest) {
      await giveBackCall()
      throw pushRefusal(limit, windowMs - msBetween(oldest.at, now))
    }
    const sent = [...recent, { reference, at: now }]
    const ttl = expiresAfter(now, windowMs)
    const outcome = await putPushes(deps, { clientId, phone }, { sent, ttl }, item, now)
    if (outcome.applied) return
    item = outcome.item
  }
  await giveBackCall()
  throw pushRefusal(limit, SECOND_MS)
}

function pushRefusal({ pushes, minutes }: PushLimit, waitMs: number) {
  const reason = `one phone gets at most ${pushes} pushes in ${minutes} minutes`
  return limitError(`customer.phone: ${reason}`, waitMs)
}
