import * as v from 'valibot'
import type { TableDeps } from '../../deps.ts'
import type { DeliveryId } from '../../ids.ts'
import { attemptSkPrefix, deliveryKey } from '../../table/keys.ts'
import { type Delivery, type DeliveryAttempt, DeliveryAttemptSchema } from './delivery.ts'

/** The most attempts shown of one delivery: the newest. */
const SHOWN_ATTEMPTS = 100

/**
 * The newest attempts of a delivery, oldest first: the one in the delivery itself, and those with rows of their own.
 */
export const attemptsOf = async (
  deps: TableDeps,
  { deliveryId, attempts, success }: Delivery,
  most = SHOWN_ATTEMPTS,
): Promise<readonly DeliveryAttempt[]> => {
  const held = success ? [success] : []
  if (attempts <= held.length) return held
  const made = [...(await listAttempts(deps, deliveryId, most)), ...held]
  return made.toSorted((a, b) => a.number - b.number).slice(-most)
}

/** The newest attempts of a delivery that have rows of their own, oldest first. */
export const listAttempts = async (
  deps: TableDeps,
  deliveryId: DeliveryId,
  most = SHOWN_ATTEMPTS,
): Promise<readonly DeliveryAttempt[]> => {
  const { items } = await deps.table.query({
    partition: [deliveryKey(deliveryId).pk],
    range: { beginsWith: attemptSkPrefix },
    limit: Math.min(most, SHOWN_ATTEMPTS),
    newestFirst: true,
  })
  return items.map((item) => v.parse(DeliveryAttemptSchema, item)).toReversed()
}
