/* A callback faster than the provider's own read side is not forgotten, and one that can change nothing costs no call. */
import { describe, expect } from 'vitest'
import { handler } from '../../../functions/callback/receive-provider-callback.ts'
import { minor } from '../../../shared/money.ts'
import { receiveCallback } from '../../../shared/payment/news/receive-callback.ts'
import { refreshPayment } from '../../../shared/payment/news/refresh-payment.ts'
import { findStoredPayment, noteCancelRequested } from '../../../shared/payment/payment-store.ts'
import type { ProviderRequest } from '../../../shared/provider/provider.ts'
import { parseCallback } from '../../../shared/provider/xendit/parse-callback.ts'
import { callbackSecretName } from '../../../shared/secrets.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { call } from '../../support/api-event.ts'
import { aCreating, aPendingPayment, checkWhenDue } from '../../support/payment-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { memoryDeps, recordTable, testDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { aScene, paymentTest as it } from './payment-test.ts'

const TOKEN = 'a-callback-token-of-tests'

/** A payment whose customer has paid, at a provider whose read side shows the request and not its money. */
async function aHidden(as: 'missing' | 'open' | 'unreachable' = 'missing', own = testDeps()) {
  const scene = await aScene({}, own)
  const { deps, payment } = scene
  const { payments } = deps.provider
  deps.secretValues.set(
    callbackSecretName('test'),
    JSON.stringify({ callback_tokens: [TOKEN, `another-${TOKEN}`] }),
  )
  const providerPaymentId = scene.pay()
  const shown = payments.get(providerPaymentId)
  if (!shown) throw new Error('the provider has no such payment')
  payments.set(providerPaymentId, { ...shown, status: 'open' })
  if (as === 'missing') payments.delete(providerPaymentId)
  if (as === 'unreachable')
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: as }))
  deps.clock.advance(1)
  const bodyOf = (
    event: string,
    { paymentRequestId, paymentId }: typeof payment,
    payment_id?: string,
  ) => ({
    event,
    data: { payment_id, payment_request_id: paymentRequestId, reference_id: `${paymentId}-1` },
  })
  const say = (body: object, bytes = 0, to = deps) => {
    const rawBody = Buffer.from(JSON.stringify(body).padEnd(bytes))
    return receiveCallback(to, { isGenuine: true, rawBody, parse: parseCallback })
  }
  const captureBody = (id = providerPaymentId, of = payment) => bodyOf('payment.capture', of, id)
  return {
    ...scene,
    providerPaymentId,
    show: () => {
      payments.set(providerPaymentId, shown)
      deps.provider.heal('getPayment')
    },
    captureBody,
    say,
    sayPaid: (id?: string, of = payment) => say(captureBody(id, of)),
    sayExpired: () => say(bodyOf('payment_request.expiry', payment)),
  }
}

describe('a callback about a capture that the provider does not show yet', () => {
  it.each(['missing', 'open', 'unreachable'] as const)(
    'answers 500, checks at once and every two minutes while its capture is %s, then credits it',
    async (as) => {
      const { deps, providerPaymentId, captureBody, show, check, stored, ledger } =
        await aHidden(as)
      const sent = { body: captureBody(), headers: { 'x-callback-token': TOKEN } }

      expect((await call(deps, { route: 'POST /callbacks/xendit', handler }, sent)).status).toBe(
        500,
      )

      expect(await stored()).toMatchObject({ status: 'pending', dueAt: deps.now() })
      const reason = as === 'unreachable' ? 'unanswered' : 'not_shown'
      expect(await check()).toBe(reason)
      expect(await stored()).toMatchObject({ status: 'pending', dueAt: addMs(deps.now(), 120_000) })
      expect(deps.lines.at(-1)).toMatchObject({ code: 'payment.check_failed', fields: { reason } })
      show()
      await check()
      expect(await stored()).toMatchObject({
        status: 'succeeded',
        creditedProviderPaymentId: providerPaymentId,
      })
      expect(await ledger()).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    },
  )

  it('makes a refresh and a cancel answer 502 until then', async () => {
    const { deps, payment, cancel, stored } = await aHidden('open')

    await expect(refreshPayment(deps, payment.paymentId, 'ayu')).rejects.toMatchObject({
      code: 'server_error',
    })
    expect(await stored()).toMatchObject({ status: 'pending', dueAt: deps.now() })
    await expect(cancel()).rejects.toMatchObject({ code: 'server_error' })
    expect(await stored()).toMatchObject({ status: 'pending' })
  })

  it('makes no due work of a terminal payment; its repeat puts the money into suspense', async () => {
    const { deps, payment, providerPaymentId, request, notify, show, sayPaid, stored, held } =
      await aHidden()
    const paid = request()
    request({ status: 'expired' })
    await notify()
    request(paid)

    expect(await sayPaid()).toBe('ask_again')

    expect(await stored()).toMatchObject({ status: 'expired' })
    expect(await dueAtOf(deps, 'payment', payment.paymentId)).toBeUndefined()
    show()
    expect(await sayPaid()).toBe('applied')
    expect(await held(providerPaymentId)).toMatchObject({ cause: 'payment_not_pending' })
  })

  it('that names an unknown capture only makes the payment due at once', async () => {
    const { deps, payment, request, sayPaid, stored } = await aHidden()
    request({ status: 'open', latestPaymentId: undefined })

    expect(await sayPaid('py-unknown')).toBe('applied')

    expect(await stored()).toEqual({ ...payment, dueAt: deps.now() })
  })
})

describe('such a callback about a payment that is being created', () => {
  /** Its request is not known here: its process died, and the customer has paid. */
  const aHiddenCreating = async (request: Partial<ProviderRequest>) => {
    const { deps, payment, providerPaymentId, sayPaid, held } = await aHidden()
    const { creating } = await aCreating()
    const { paymentId } = creating
    const own = { paymentRequestId: 'pr-creating', reference: `${paymentId}-1` }
    const known = { ...deps.provider.requestOf(payment.paymentRequestId), ...own, ...request }
    deps.provider.requests.set('pr-creating', known)
    const say = () => sayPaid(providerPaymentId, { ...payment, ...own, paymentId })
    return {
      deps,
      creating,
      paymentId,
      providerPaymentId,
      held,
      say,
      stored: () => findStoredPayment(deps, paymentId),
    }
  }

  it.each(['missing', 'refused'])(
    'is stored, checked at once, and removed after an hour (%s)',
    async (as) => {
      const { deps, creating, providerPaymentId, say, stored } = await aHiddenCreating({})
      let reason: 'unreachable' | 'refused' = 'unreachable'
      if (as === 'refused')
        deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason }))
      const remembered = {
        status: 'creating',
        rememberedProviderPaymentIds: new Set([providerPaymentId]),
      }

      expect(await say()).toBe('ask_again')
      expect(await stored()).toMatchObject({ ...remembered, dueAt: deps.now() })
      reason = 'refused'
      expect(await checkWhenDue(deps, creating)).toBe('not_shown')
      expect(await stored()).toMatchObject(remembered)
      // By then the provider has called again.
      deps.clock.advance(3_600)
      expect(await checkWhenDue(deps, creating)).toBe('checked')

      expect(await stored()).not.toHaveProperty('rememberedProviderPaymentIds')
      expect(await stored()).not.toHaveProperty('dueAt')
    },
  )

  it.each([true, false])(
    'answers 500 when its request is open or unknown (known: %s)',
    async (isKnown) => {
      const { deps, say, stored } = await aHiddenCreating({
        status: 'open',
        latestPaymentId: undefined,
      })
      if (!isKnown) deps.provider.requests.delete('pr-creating')

      expect(await say()).toBe('ask_again')
      expect(await stored()).not.toHaveProperty('rememberedProviderPaymentIds')
    },
  )

  it('is accepted when its money is in suspense', async () => {
    const { deps, paymentId, providerPaymentId, held, say } = await aHiddenCreating({
      status: 'open',
    })
    const captured = { status: 'captured', currency: 'IDR', capturedMinor: minor(1) } as const
    const of = { providerPaymentId, paymentRequestId: 'pr-creating', reference: `${paymentId}-1` }
    deps.provider.payments.set(providerPaymentId, { ...captured, ...of })

    expect(await say()).toBe('applied')
    expect(await held(providerPaymentId)).toMatchObject({ cause: 'wrong_amount' })
  })
})

/* These have a table of their own: all environments on one table share a pause. */
describe('a callback while the provider limits our calls', () => {
  it('answers 500 and changes nothing, and the next one makes no call', async () => {
    const { deps, sayPaid, stored } = await aHidden('missing', memoryDeps())
    const before = await stored()
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'rate_limited' }))

    expect([await sayPaid(), await sayPaid()]).toStrictEqual(['ask_again', 'ask_again'])

    expect(deps.provider.countOf('getPayment')).toBe(1)
    expect(await stored()).toStrictEqual(before)
    expect(deps.sent).toMatchObject([
      { queue: 'sync', message: { body: { woken: true }, delaySeconds: 15 } },
    ])
  })

  it('about a refund or a dispute makes no call, and wakes the sync at most every 30 seconds', async () => {
    const { deps, say } = await aHidden('missing', memoryDeps())

    for (const event of ['refund.succeeded', 'dispute.won', 'dispute.lost']) {
      deps.clock.advance(15)
      expect(await say({ event, payment_id: 'py-1', data: { payment_id: 'py-1' } })).toBe('applied')
    }

    expect(deps.provider.countOf('getPayment')).toBe(0)
    expect(deps.sent.map(({ queue }) => queue)).toStrictEqual(['sync', 'sync'])
  })
})

it('a callback of at most 256 KB is applied with three reads and one transaction', async () => {
  const { deps, captureBody, show, say } = await aHidden()
  show()
  const { deps: watched, calls } = recordTable(deps)

  expect(await say(captureBody(), 262_145, watched)).toBe('ignored')
  expect(await say(captureBody(), 262_144, watched)).toBe('applied')

  expect(calls.map(({ name }) => name)).toStrictEqual(['get', 'get', 'query', 'transact'])
})

it('a repeated callback about a credited capture makes no call and no write', async () => {
  const { deps, show, sayPaid, sayExpired, stored } = await aHidden()
  show()
  expect(await sayPaid()).toBe('applied')
  const [asked, before] = [deps.provider.calls.length, await stored()]

  for (let time = 0; time < 20; time++) expect(await sayPaid()).toBe('ignored')
  expect(await sayExpired()).toBe('ignored')

  expect(deps.provider.calls).toHaveLength(asked)
  expect(await stored()).toStrictEqual(before)
})

it('a payment whose cancel is requested during the provider call ends as cancelled', async () => {
  const { deps, payment, request, sayExpired, stored } = await aHidden()
  deps.provider.script('getRequest', async () => {
    await noteCancelRequested(deps, payment.paymentId, deps.now(), deps.now())
    return { kind: 'found', value: request({ status: 'cancelled', latestPaymentId: undefined }) }
  })

  expect(await sayExpired()).toBe('applied')

  expect(await stored()).toMatchObject({ status: 'cancelled' })
})

const REMEMBERED = { rememberedProviderPaymentIds: new Set(['py-remembered']) }

it('a capture that the create stored is checked for an hour, then removed', async ({
  deps,
  client,
}) => {
  const payment = await aPendingPayment(deps, client, { method: 'ewallet', channelCode: 'DANA' })
  const now = () => paymentOf(deps, { payment })
  await deps.table.write(update(paymentKey(payment.paymentId), { add: REMEMBERED }))

  expect(await checkWhenDue(deps, payment)).toBe('not_shown')
  expect(await now()).toMatchObject({ ...REMEMBERED, dueAt: addMs(deps.now(), 2 * MINUTE_MS) })
  deps.clock.advance(3_600)
  expect(await checkWhenDue(deps, payment)).toBe('checked')

  expect(await now()).not.toHaveProperty('rememberedProviderPaymentIds')
  expect(await now()).toMatchObject({ dueAt: payment.expiresAt })
})
