import * as v from 'valibot'
import { expect } from 'vitest'
import { ApiKeySchema, issueApiKey } from '../../shared/client/api-key-store.ts'
import { CallerSchema, type Client, ClientSchema } from '../../shared/client/client.ts'
import { insertClient } from '../../shared/client/client-store.ts'
import type { Deps } from '../../shared/deps.ts'
import { listEventsOf } from '../../shared/event/read-events.ts'
import {
  type ClientId,
  ClientIdSchema,
  keyDigestOf,
  paymentIdForKey,
  subjectOfPayment,
} from '../../shared/ids.ts'
import { balanceOf, countOf, readLedger } from '../../shared/ledger/ledger-store.ts'
import { minor } from '../../shared/money.ts'
import { createPayment } from '../../shared/payment/create/create-payment.ts'
import { claimPayment } from '../../shared/payment/creating-store.ts'
import { checkDuePayment } from '../../shared/payment/news/check-due-payment.ts'
import type { CreatingPayment, Payment, PaymentRequest } from '../../shared/payment/payment.ts'
import { PAYMENT_STATUSES } from '../../shared/payment-status.ts'
import type { CreateAnswer, ProviderRequest } from '../../shared/provider/provider.ts'
import { eventKey, paymentKey } from '../../shared/table/keys.ts'
import { addMs, TimestampSchema } from '../../shared/time.ts'
import { type TestDeps, testDeps } from './test-deps.ts'

/** The answer to a create whose outcome is unknown. */
export const TIMED_OUT = { kind: 'unknown', reason: 'timeout' } as const

export function aClientId() {
  return v.parse(ClientIdSchema, crypto.randomUUID())
}

export function aClient(overrides: Partial<Client> = {}) {
  return v.parse(ClientSchema, {
    clientId: crypto.randomUUID(),
    name: 'Warung Kopi',
    enabled: true,
    settlementFloorMinor: 10_000,
    createdAt: '2026-11-20T04:00:00.000Z',
    ...overrides,
  })
}

/** Tests of other alerts do not see those of new keys. */
const UNHEARD = { publish: async () => {} }

export async function issueKey(deps: TestDeps, clientId: ClientId, expiresInSeconds?: number) {
  const { text, key } = await issueApiKey(
    { ...deps, alerts: UNHEARD },
    { clientId, operator: 'tester', expiresInSeconds },
  )
  return { text, key: v.parse(ApiKeySchema, key), header: `Bearer ${text}` }
}

export async function aStoredClient(deps: TestDeps, fields: Partial<Client> = {}) {
  const clientId = v.parse(ClientIdSchema, deps.newId())
  const client = aClient({ clientId, name: 'Warung Kopi Satu', createdAt: deps.now(), ...fields })
  await insertClient(deps, client, 'test')
  return client
}

export function callerOf(client: Client) {
  return v.parse(CallerSchema, client)
}

export function aRequest(fields: Partial<PaymentRequest> = {}): PaymentRequest {
  return {
    method: 'virtual_account',
    channelCode: 'BCA',
    notionalMinor: minor(100_000),
    currency: 'IDR',
    ...fields,
  }
}

export function create(
  deps: TestDeps,
  client: Client,
  request: PaymentRequest = aRequest(),
  idempotencyKey?: string,
) {
  return createPayment(deps, { client, idempotencyKey, parsed: { ok: true, request } })
}

export const OVO_REQUEST: Partial<PaymentRequest> = {
  method: 'ewallet',
  channelCode: 'OVO',
  customer: { phone: '+6281234567890' },
}

export async function aPendingPayment(
  deps: TestDeps,
  client: Client,
  fields: Partial<PaymentRequest> = {},
) {
  return (await create(deps, client, aRequest(fields))).payment
}

export const LEASE_MS = 30_000

/** A payment whose second attempt is under way. */
export async function aCreating(
  fields: Partial<CreatingPayment> = {},
  deps: TestDeps = testDeps(),
) {
  const client = await aStoredClient(deps)
  const creating: CreatingPayment = {
    paymentId: paymentIdForKey(client.clientId, 'key-1'),
    clientId: client.clientId,
    keyDigest: keyDigestOf('key-1'),
    provider: 'xendit',
    status: 'creating',
    request: aRequest(),
    attempt: 2,
    claimedAt: deps.now(),
    leaseUntil: addMs(deps.now(), LEASE_MS),
    providerAttempts: [{ number: 2, startedAt: deps.now(), outcome: 'started' }],
    mayExistUpstream: true,
    ...fields,
  }
  await claimPayment(deps, creating)
  return { deps, client, creating }
}

/**
 * The provider makes the next request at once. Its answer comes when the test resolves the promise,
 * or replaces it.
 */
export function lateAnswer({ provider }: TestDeps): PromiseWithResolvers<CreateAnswer | void> {
  const answer = Promise.withResolvers<CreateAnswer | void>()
  provider.script('createRequest', async (input, timeoutMs) => {
    const created = await provider.healthy.createRequest(input, timeoutMs)
    return (await answer.promise) ?? created
  })
  return answer
}

/** A client's ledger with one pending payment. */
export const ONE_PENDING = { pendingMinor: 0, pending: 1 }

/** Each create has these fields of the provider's request. `isLost`: its answer is. */
export function changeCreated(
  { provider }: TestDeps,
  fields: Partial<ProviderRequest>,
  isLost = () => false,
) {
  provider.script('createRequest', async (input, timeoutMs) => {
    const answer = await provider.healthy.createRequest(input, timeoutMs)
    if (answer.kind !== 'created') return answer
    const request = { ...answer.request, ...fields }
    provider.requests.set(request.paymentRequestId, { ...request, input })
    return isLost() ? TIMED_OUT : { kind: 'created', request }
  })
}

export function payFirst({ provider }: TestDeps) {
  const [{ paymentRequestId, reference } = provider.requestOf('the first')] =
    provider.requests.values()
  return { reference, paymentRequestId, providerPaymentId: provider.pay(paymentRequestId) }
}

/** The payment is still being created, under a lease. */
export async function paidWhileCreating(
  deps: TestDeps,
  client: Client,
  fields: Partial<PaymentRequest> = {},
) {
  const answer = lateAnswer(deps)
  const creating = create(deps, client, aRequest(fields), 'key-1')
  await expect.poll(() => deps.provider.requests.size).toBe(1)
  return { creating, answer, ...payFirst(deps) }
}

/** The provider has the request. */
export async function loseAnswer(
  deps: TestDeps,
  client: Client,
  fields: Partial<PaymentRequest> = {},
  seconds = 0,
) {
  deps.provider.script('createRequest', async (input, timeoutMs) => {
    await deps.provider.healthy.createRequest(input, timeoutMs)
    deps.clock.advance(seconds)
    return TIMED_OUT
  })
  await create(deps, client, aRequest(fields), 'key-1').catch(() => undefined)
  deps.provider.heal('createRequest')
}

export async function checkWhenDue(deps: TestDeps, { paymentId }: Pick<Payment, 'paymentId'>) {
  const item = await deps.table.get(paymentKey(paymentId))
  const { dueAt } = v.parse(v.object({ dueAt: v.optional(TimestampSchema) }), item)
  if (dueAt !== undefined && dueAt > deps.now()) deps.clock.set(dueAt)
  return checkDuePayment(deps, item)
}

export function eventOf(deps: TestDeps, payment: Pick<Payment, 'paymentId'>, type: string) {
  return deps.table.get(eventKey(subjectOfPayment(payment.paymentId), type))
}

export function eventsOf(deps: TestDeps, payment: Pick<Payment, 'paymentId'>) {
  return listEventsOf(deps, subjectOfPayment(payment.paymentId))
}

export function succeededKey(payment: Pick<Payment, 'paymentId'>) {
  return eventKey(subjectOfPayment(payment.paymentId), 'payment.succeeded')
}

/** Counts that are zero are left out. */
export async function ledgerView(deps: Deps, { clientId }: Pick<Client, 'clientId'>) {
  const ledger = await readLedger(deps, clientId)
  const counts = PAYMENT_STATUSES.map((status) => [status, countOf(ledger, status)] as const)
  return {
    pendingMinor: balanceOf(ledger).pendingMinor as number,
    ...Object.fromEntries(counts.filter(([, count]) => count !== 0)),
  }
}
