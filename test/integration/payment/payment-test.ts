import type { Client } from '../../../shared/client/client.ts'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import type { NewsSubject } from '../../../shared/payment/news/ask-for-news.ts'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import type { Payment, PaymentRequest } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import {
  aPendingPayment,
  aRequest,
  aStoredClient,
  checkWhenDue,
  create,
  eventOf,
  ledgerView,
  TIMED_OUT,
} from '../../support/payment-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { aConflict, interceptTable, type TestDeps, testDeps } from '../../support/test-deps.ts'
import { clientTest } from '../settlement/client-test.ts'

export async function aScene<Deps extends TestDeps = TestDeps>(
  fields: Partial<PaymentRequest> = {},
  deps = testDeps() as Deps,
) {
  const client = await aStoredClient(deps)
  return sceneOf(deps, client, await aPendingPayment(deps, client, fields))
}

export const LIFETIME_S = 600

export function aQris() {
  return aScene({ method: 'qris', channelCode: undefined, expiresInSeconds: LIFETIME_S })
}

function sceneOf<Deps extends TestDeps>(deps: Deps, client: Client, payment: Payment) {
  const { paymentId, paymentRequestId } = payment
  return {
    deps,
    client,
    payment,
    item: () => deps.table.get(paymentKey(paymentId)),
    reread: () => paymentOf(deps, { payment }),
    ledger: () => ledgerView(deps, client),
    event: (type: string) => eventOf(deps, payment, type),
    suspenseOf: (providerPaymentId: string) => findSuspense(deps, providerPaymentId),
    /** No callback reaches the gateway. */
    pay: (amountMinor?: number) => deps.provider.pay(paymentRequestId, amountMinor),
    request: (changes: Partial<ReturnType<typeof deps.provider.requestOf>> = {}) => {
      const request = { ...deps.provider.requestOf(paymentRequestId), ...changes }
      deps.provider.requests.set(paymentRequestId, request)
      return request
    },
    notify: (subject: NewsSubject = { paymentRequestId }, callerDeps = deps) =>
      applyProviderNews(callerDeps, subject, 'callback'),
    cancel: (callerDeps = deps) =>
      cancelPayment(callerDeps, { clientId: client.clientId, id: paymentId }),
    check: () => checkWhenDue(deps, payment),
  }
}

/** After each test the client's books are audited. */
export const paymentTest = clientTest
  .extend('payment', ({ deps, client }) => aPendingPayment(deps, client))
  .extend('scene', ({ deps, client, payment }) => sceneOf(deps, client, payment))

export function withFrozenConflicts(deps: TestDeps, times: number, seconds: number) {
  let conflicts = 0
  return interceptTable(deps, {
    before: ({ name }) => {
      if (name !== 'transact' || conflicts++ >= times) return
      deps.clock.pass(seconds * 1_000)
      throw aConflict()
    },
  })
}

export async function aCreate(fields: Partial<PaymentRequest> = {}, deps = testDeps()) {
  const client = await aStoredClient(deps)
  const paymentId = paymentIdForKey(client.clientId, 'key-1')
  const make = (callerDeps = deps, request = aRequest(fields)) =>
    create(callerDeps, client, request, 'key-1')
  return {
    deps,
    client,
    paymentId,
    make,
    timeOut: async () => {
      deps.provider.answer('createRequest', TIMED_OUT)
      await make().catch(() => undefined)
      deps.provider.heal('createRequest')
    },
    reread: () => findStoredPayment(deps, paymentId),
    ledger: () => ledgerView(deps, client),
    creates: () => deps.provider.countOf('createRequest'),
    statuses: () => [...deps.provider.requests.values()].map(({ status }) => status),
  }
}
