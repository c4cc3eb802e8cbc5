import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { handler as receiveCallback } from '../../../../functions/callback/receive-provider-callback.ts'
import type { Deps } from '../../../../shared/deps.ts'
import { referenceOf } from '../../../../shared/ids.ts'
import type { Payment } from '../../../../shared/payment/payment.ts'
import { callbackSecretName } from '../../../../shared/secrets.ts'
import { API, anApiClient, aPaymentBody, call } from '../../../support/api-event.ts'
import { interceptTable } from '../../../support/intercept-table.ts'
import type { MemoryDeps } from '../../../support/memory-deps.ts'
import { aPendingPayment, aStoredClient } from '../../../support/payment-builders.ts'
import { answersLate, runDueWork, type Scene } from './watched-world.ts'

const CALLBACK = { route: 'POST /callbacks/xendit', handler: receiveCallback }
const TOKEN = 'a-token-of-tests'
/** The life of a virtual account, and a little more. */
const A_DAY_S = 25 * 60 * 60

export const aPending = async (deps: MemoryDeps): Promise<Payment> => aPendingPayment(deps, await aStoredClient(deps))

const createByApi = async (deps: MemoryDeps, table: Deps['table'] = deps.table) => {
  const caller = await anApiClient(deps)
  return call({ ...deps, table }, API.createPayment, { caller, body: aPaymentBody() })
}

const knowTokens = ({ secretValues }: MemoryDeps) =>
  secretValues.set(callbackSecretName('test'), JSON.stringify({ callback_tokens: [TOKEN] }))

/** The provider tells us, with a token that is right or not, that a payment was captured. */
const callBack = async (deps: MemoryDeps, payment: Payment, providerPaymentId: string, token = TOKEN) => {
  knowTokens(deps)
  const data = {
    payment_id: providerPaymentId,
    payment_request_id: payment.paymentRequestId,
    reference_id: referenceOf(payment.paymentId, 1),
    status: 'SUCCEEDED',
  }
  return call(deps, CALLBACK, { body: { event: 'payment.capture', data }, headers: { 'x-callback-token': token } })
}

const failedCreates: Scene = async ({ deps }) => {
  await createByApi(deps)
  deps.provider.script('createRequest', async () => ({ kind: 'refused', code: 'INVALID_API_KEY', ofAccount: true }))
  await createByApi(deps)
}

/** A payment that no provider would take: beyond the channel's limit, say. */
export const refusedCreate: Scene = async ({ deps }) => {
  deps.provider.script('createRequest', async () => ({ kind: 'refused', code: 'INVALID_VALUE_ERROR' }))
  await createByApi(deps)
}

const refusedCreates: Scene = async (world) => {
  await failedCreates(world)
  await refusedCreate(world)
}

const createdAndPaid: Scene = async ({ deps }) => {
  const payment = await aPending(deps)
  await callBack(deps, payment, deps.provider.pay(payment.paymentRequestId))
}

/** One is told by a callback; the callback of the other is lost, and due work finds it. */
const lostCallback: Scene = async (world) => {
  const { deps } = world
  await createdAndPaid(world)
  const { paymentRequestId } = await aPending(deps)
  deps.provider.pay(paymentRequestId)
  deps.clock.advance(A_DAY_S)
  await runDueWork(deps)
}

const strangersCallback: Scene = async ({ deps }) => {
  const payment = await aPending(deps)
  await callBack(deps, payment, 'py-forged', 'not-our-token')
}

const contendedCreate: Scene = async ({ deps }) => {
  const contended = interceptTable(deps, {
    before: ({ name }) => {
      if (name !== 'transact') return
      throw new TransactionCanceledException({
        message: 'cancelled',
        $metadata: {},
        CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }],
      })
    },
  })
  await createByApi(deps, contended.table)
}

/** Its cancel comes too late. */
const slowRequestCheck: Scene = async ({ deps }) => {
  const { paymentRequestId } = await aPending(deps)
  deps.provider.close(paymentRequestId, 'expired')
  deps.clock.advance(A_DAY_S)
  answersLate(deps, 'getRequest', { kind: 'unanswered', reason: 'unreachable' })
  await runDueWork(deps)
}

const slowConfirmation: Scene = async ({ deps }) => {
  const payment = await aPending(deps)
  const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
  answersLate(deps, 'getPayment', { kind: 'unanswered', reason: 'server_error' })
  await callBack(deps, payment, providerPaymentId)
}

const cancelled: Scene = async ({ deps }) => {
  const caller = await anApiClient(deps)
  const { body } = await call(deps, API.createPayment, { caller, body: aPaymentBody() })
  await call(deps, API.cancelPayment, { caller, id: String(body['id']) })
}

const slowCancel: Scene = async (world) => {
  answersLate(world.deps, 'cancelRequest', { kind: 'unanswered', reason: 'unreachable' })
  await cancelled(world)
}

/** Neither question about a payment is answered. */
const unansweredQuestions: Scene = async (world) => {
  await slowRequestCheck(world)
  await slowConfirmation(world)
}

/** By the alarm that must see it. */
export const PAYMENT_SCENES: Readonly<Record<string, Scene>> = {
  'creates-answered-fast': refusedCreates,
  'creates-answered-slow': refusedCreates,
  'creates-refused': refusedCreates,
  'api-errors': refusedCreate,
  'api-errors-lasting': refusedCreate,
  'canary-server-errors': refusedCreate,
  'money-not-moving': createdAndPaid,
  'callbacks-missing': lostCallback,
  'provider-failing': unansweredQuestions,
}

/** What no alarm watches by itself, but the dashboard shows. */
export const OTHER_PAYMENT_SCENES: Readonly<Record<string, Scene>> = {
  'a stranger calls our callback address': strangersCallback,
  'a write meets others until it gives up': contendedCreate,
  'a cancel is not answered': slowCancel,
  'a payment is cancelled': cancelled,
  'a payment expires': async ({ deps }) => {
    await aPending(deps)
    deps.clock.advance(A_DAY_S)
    await runDueWork(deps)
  },
  'a payment fails upstream': async ({ deps }) => {
    const { paymentRequestId } = await aPending(deps)
    deps.provider.close(paymentRequestId, 'failed')
    deps.clock.advance(A_DAY_S)
    await runDueWork(deps)
  },
}
