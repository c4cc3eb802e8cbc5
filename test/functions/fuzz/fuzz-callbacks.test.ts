/**
 * Goal: a callback only names the payment to ask about, for any body: the provider's own answer decides. Method: almost
 * valid and arbitrary bodies, with and without a valid token, to the real handler.
 */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { referenceOf } from '../../../shared/ids.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { callbackSecretName } from '../../../shared/secrets.ts'
import { CALLBACK, call } from '../../support/api-event.ts'
import { filledIn, hostileJson, hostileText, mostly, objectOf, weighted } from '../../support/hostile-values.ts'
import { aPendingPayment, aStoredClient, ledgerView } from '../../support/payment-builders.ts'
import { runs } from '../../support/runs.ts'
import { memoryDeps } from '../../support/test-deps.ts'

const RUNS = { numRuns: runs(60) }
const TOKEN = 'a-token-of-tests'

/** With names that are replaced by the ids of the moment: of an unpaid payment, and of a paid one. */
const IDS = ['$unpaid request', '$unpaid reference', '$paid request', '$paid reference', '$capture']
const anId = mostly(...IDS, 'py-unknown', 'pr-unknown', '')

const anyData = objectOf({
  id: anId,
  payment_id: anId,
  payment_request_id: anId,
  reference_id: anId,
  status: mostly('SUCCEEDED', 'FAILED', 'EXPIRED'),
  captures: hostileJson,
})
const anEvent = objectOf({
  event: mostly('payment.capture', 'payment.failure', 'payment_request.expiry', 'payout.succeeded'),
  business_id: hostileText,
  data: weighted([6, anyData], [1, hostileJson]),
})
const anyCallback = weighted([6, anEvent], [1, hostileJson])

const anyBytes = fc
  .oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.constantFrom('['.repeat(60_000), '{"event":'.repeat(5_000), '\uFEFF{}', 'x'.repeat(300_000)),
  )
  .map((bytes) => Buffer.from(bytes as Uint8Array))

const arrange = async () => {
  const deps = memoryDeps()
  const tokens = [TOKEN, 'another-token-of-tests']
  deps.secretValues.set(callbackSecretName('test'), JSON.stringify({ callback_tokens: tokens }))
  const client = await aStoredClient(deps)
  const [unpaid, paid] = [await aPendingPayment(deps, client), await aPendingPayment(deps, client)]
  const capture = deps.provider.pay(paid.paymentRequestId)
  const names = {
    '$unpaid request': unpaid.paymentRequestId,
    '$unpaid reference': referenceOf(unpaid.paymentId, 1),
    '$paid request': paid.paymentRequestId,
    '$paid reference': referenceOf(paid.paymentId, 1),
    $capture: capture,
  }
  const send = (body: unknown, headers: Readonly<Record<string, string>>) =>
    call(deps, CALLBACK, { body: Buffer.isBuffer(body) ? body : filledIn(body, names), headers })
  return { deps, client, unpaid, paid, capture, send }
}

it('any callback without a valid token answers 401, makes no call and writes nothing', async () => {
  const { deps, send } = await arrange()
  const [written, asked] = [deps.changes.length, deps.provider.calls.length]

  await fc.assert(
    fc.asyncProperty(
      fc.oneof(anyCallback, anyBytes),
      fc.oneof(hostileText, fc.constantFrom(undefined, `${TOKEN} `, TOKEN.slice(1), TOKEN.toUpperCase())),
      fc.dictionary(hostileText, hostileText, { maxKeys: 3 }),
      async (body, token, others) => {
        const headers = { ...others, ...(token !== undefined && { 'x-callback-token': token }) }

        const answer = await send(body, headers)

        expect([answer.status, answer.body]).toStrictEqual([401, { message: 'invalid callback token', code: 'auth' }])
        expect([deps.changes.length, deps.provider.calls.length]).toStrictEqual([written, asked])
      },
    ),
    RUNS,
  )
})

it('a callback with a valid token has only the effect of the provider’s answers; invalid bytes have no effect', async () => {
  const sent = fc.oneof({ weight: 6, arbitrary: anyCallback }, { weight: 1, arbitrary: anyBytes })
  await fc.assert(
    fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 4 }), async (callbacks) => {
      const { deps, client, unpaid, paid, capture, send } = await arrange()

      for (const body of callbacks) {
        const written = deps.changes.length
        const { status } = await send(body, { 'x-callback-token': TOKEN })
        expect([status, Buffer.isBuffer(body) && deps.changes.length > written]).toStrictEqual([200, false])
      }

      expect(await findStoredPayment(deps, unpaid.paymentId)).toEqual({ ...unpaid, dueAt: expect.any(String) })
      const [after, ledger] = [await findStoredPayment(deps, paid.paymentId), await ledgerView(deps, client.clientId)]
      if (after?.status === 'succeeded') {
        expect(after.creditedProviderPaymentId).toBe(capture)
        expect(ledger).toStrictEqual({ pendingMinor: 95_900, pending: 1, succeeded: 1 })
      } else {
        expect(after).toEqual({ ...paid, dueAt: expect.any(String) })
        expect(ledger).toStrictEqual({ pendingMinor: 0, pending: 2 })
      }
      expect(deps.stored.items('SUSPENSE#')).toStrictEqual([])
    }),
    RUNS,
  )
})
