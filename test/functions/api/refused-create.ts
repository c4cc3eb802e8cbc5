import { expect } from 'vitest'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { anApi } from '../../support/api-event.ts'
import { ledgerView } from '../../support/payment-builders.ts'

const KEY = 'key-1'

export async function refusedCreate(body: unknown, merchant = anApi()) {
  const { deps, caller, ask } = await merchant
  const answer = await ask('createPayment', { body, headers: { 'Idempotency-Key': KEY } })
  const stored = await findStoredPayment(deps, paymentIdForKey(caller.clientId, KEY))
  const left = { stored, ledger: await ledgerView(deps, caller), calls: deps.provider.calls }
  expect(left).toStrictEqual({ stored: undefined, ledger: { pendingMinor: 0 }, calls: [] })
  expect([answer.status, answer.body['code']]).toStrictEqual([422, 'validation'])
  return answer.body
}

export async function sendCreate(body: unknown, asBase64 = false) {
  return (await anApi()).ask('createPayment', { body, asBase64 })
}

/** The second reason of an unsupported method: the message is the spec's. */
export const METHODS = 'must be one of virtual_account, ewallet, qris'
