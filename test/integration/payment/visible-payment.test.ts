import { describe, expect, it } from 'vitest'
import { rememberCapture } from '../../../shared/payment/creating-store.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { expirePayment } from '../../../shared/payment/news/cancel-payment.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import {
  endCheck,
  findStoredPayment,
  markDueNow,
  noteCancelRequested,
  noteExpiryStarted,
  scheduleCheck,
} from '../../../shared/payment/payment-store.ts'
import { postPayments } from '../../../shared/posting/post-payments.ts'
import { eventKey, paymentKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { settledRowFor } from '../../support/paid-builders.ts'
import { aCreating, aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { aScene } from './payment-test.ts'

it('an expiry does not begin before a cancel is asked about that was noted since the payment was read', async () => {
  const { deps, payment, request, stored } = await aScene()
  await noteCancelRequested(deps, payment.paymentId, deps.now(), deps.now())
  request({ status: 'cancelled' })

  const begun = await noteExpiryStarted(deps, payment, deps.now())
  const outcome = await expirePayment(deps, payment, 'due_work')

  expect(begun.applied).toBe(false)
  expect(outcome).toMatchObject({ kind: 'applied', payment: { status: 'cancelled' } })
  expect(await stored()).not.toHaveProperty('expiryStartedAt')
})

it('a payment that is terminal gets no beginning of its expiry, no due time, and no entry: it was never open', async () => {
  const { deps, payment, stored } = await aScene()
  await closePayment(deps, payment, { status: 'expired', source: 'due_work' })
  const before = await stored()

  const begun = await noteExpiryStarted(deps, payment, deps.now())
  const due = await markDueNow(deps, payment.paymentId, deps.now())
  const posted = await postPayments(deps, [{ payment, by: { row: settledRowFor(payment) } }])

  expect([begun.applied, due.applied, posted]).toStrictEqual([false, false, [undefined]])
  expect(await stored()).toEqual(before)
  expect(await dueAtOf(deps, 'payment', payment.paymentId)).toBeUndefined()
})

describe('scheduleCheck and endCheck', () => {
  it('leave each other’s payments alone: of pending ones, and of those being created', async () => {
    const { deps, payment, stored } = await aScene()
    const { creating, deps: others } = await aCreating()
    await rememberCapture(others, creating, 'py-1', others.now())

    const scheduled = await scheduleCheck(others, creating.paymentId, others.now(), addMs(others.now(), 1))
    const ended = await endCheck(deps, payment.paymentId, payment.dueAt ?? deps.now())

    expect([scheduled.applied, ended.applied]).toStrictEqual([false, false])
    const remembering = { rememberedProviderPaymentIds: new Set(['py-1']), dueAt: others.now() }
    expect(await findStoredPayment(others, creating.paymentId)).toEqual({ ...creating, ...remembering })
    expect(await stored()).toEqual(payment)
  })

  it('endCheck is refused when another capture was remembered since the claim', async () => {
    const { deps, creating } = await aCreating()
    await rememberCapture(deps, creating, 'py-1', deps.now())
    await rememberCapture(deps, creating, 'py-2', addMs(deps.now(), 1))

    expect((await endCheck(deps, creating.paymentId, deps.now())).applied).toBe(false)

    const both = { rememberedProviderPaymentIds: new Set(['py-1', 'py-2']) }
    expect(await findStoredPayment(deps, creating.paymentId)).toMatchObject(both)
  })
})

it('rows of a payment repeat no field of keys and indexes, and the audit is balanced', async () => {
  const deps = memoryDeps()
  const client = await aStoredClient(deps)
  const paid = await aPendingPayment(deps, client)

  await applyProviderNews(deps, { providerPaymentId: deps.provider.pay(paid.paymentRequestId) }, 'callback')

  const row = await deps.table.get(paymentKey(paid.paymentId))
  const event = await deps.table.get(eventKey(paid.paymentId, 'payment.succeeded'))
  expect(row).toMatchObject({ status: 'succeeded' })
  for (const name of ['paymentId', 'createdAt', 'currency']) expect(row).not.toHaveProperty(name)
  for (const name of ['eventId', 'type', 'clientId', 'paymentId', 'firedAt']) expect(event).not.toHaveProperty(name)
  await expectBalanced(deps, client.clientId)
})

it('a payment has the provider of its channel, from the claim on', async () => {
  const deps = memoryDeps()
  const client = await aStoredClient(deps)
  deps.provider.script('nameFor', ({ method }) => (method === 'qris' ? 'another' : 'xendit'))

  const qris = await aPendingPayment(deps, client, { method: 'qris', channelCode: undefined })
  const bank = await aPendingPayment(deps, client)

  expect([qris.provider, bank.provider]).toStrictEqual(['another', 'xendit'])
})
