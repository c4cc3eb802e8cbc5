import * as v from 'valibot'
import { receiveCallback } from '../../../shared/payment/news/receive-callback.ts'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'
import { checkSuspenseAlert } from '../../../shared/suspense/record-suspense.ts'
import { addMs, DAY_MS, TimestampSchema } from '../../../shared/time.ts'
import { expectSuspense } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'

export const CASE = 'mi-dspt-3f7c2d1e'

type Said = Readonly<Record<string, unknown>>

/** A callback's fields stand beside `event`, with nulls under `data`, or all under `data`. */
export function send(
  deps: TestDeps,
  said: Said,
  event = 'dispute.action_required',
  isNested = false,
) {
  const fields = {
    id: CASE,
    currency: 'IDR',
    amount: { initial: '100000', terminal: null },
    ...said,
  }
  const data = isNested ? fields : { currency: null, amount: null }
  const body = { event, data, ...(!isNested && fields) }
  const rawBody = Buffer.from(JSON.stringify(body))
  return receiveCallback(deps, { isGenuine: true, rawBody, parse: parseCallback })
}

export function expectCase(deps: TestDeps, fields: object) {
  return expectSuspense(deps, CASE, fields)
}

export function inDays(deps: TestDeps, days: number) {
  return addMs(deps.now(), days * DAY_MS)
}

export async function tellWhenDue(deps: TestDeps) {
  const said = await dueAtOf(deps, 'alert', CASE)
  if (said === undefined) return undefined
  const dueAt = v.parse(TimestampSchema, said)
  if (dueAt > deps.now()) deps.clock.set(dueAt)
  return checkSuspenseAlert(deps, { suspenseId: CASE, dueAt })
}
