import * as v from 'valibot'
import { ifValid } from '../../if-valid.ts'
import type { Secrets } from '../../secrets.ts'
import { callJson, type HttpCall, type HttpOutcome, type RateLimit } from '../call-json.ts'
import {
  type Answer,
  type CancelAnswer,
  type CreateAnswer,
  type CreateRequestInput,
  LONGEST_PAUSE_MS,
  PROVIDER_READ_TIMEOUT_MS,
  type Provider,
  type ProviderOperation,
  type ProviderRequestStatus,
  type TransactionFilter,
  type TransactionPage,
  type Unanswered,
} from '../provider.ts'
import { readProviderKey } from '../provider-secrets.ts'
import { OTHER_TYPES, TransactionPageSchema } from './transaction-schema.ts'
import { isNonWalletCode } from './xendit-channels.ts'
import { createAnswer, createBody } from './xendit-create.ts'
import {
  BalanceSchema,
  CASH_ACCOUNT,
  errorCodeOf,
  ID_LENGTH,
  isProviderId,
  PaymentSchema,
  RequestSchema,
} from './xendit-schema.ts'

export type XenditOptions = {
  readonly baseUrl?: string | undefined
  readonly stage: string
  readonly secrets: Pick<Secrets, 'get'>
  readonly nowMs: () => number
  /** Makes a call; a simulation passes its own network. */
  readonly call?: (call: HttpCall) => Promise<HttpOutcome>
}

const REQUESTS = '/v3/payment_requests'

/** A call is a GET with the timeout of a read, unless it has another method or timeout. */
type Call = Pick<HttpCall, 'body' | 'freshConnection'> & {
  readonly timeoutMs: number | undefined
  readonly operation: ProviderOperation
  readonly path: string
  readonly method?: HttpCall['method']
  readonly query?: URLSearchParams
  readonly headers?: Readonly<Record<string, string>>
}

type Outcome = HttpOutcome | { readonly kind: 'no_key' }

type Send = (call: Call) => Promise<Outcome>

/**
 * Xendit's payments API v3. Each call is made once; failures of provider and network are answers.
 */
export function xenditProvider(options: XenditOptions): Provider {
  const {
    baseUrl = 'https://api.xendit.co',
    stage,
    secrets,
    nowMs,
    call: makeCall = callJson,
  } = options
  const { noteLimit, ...limits } = rateLimits(nowMs)
  let isKeyRefused = false
  const send: Send = async ({ operation, path, method = 'GET', query, headers, ...call }) => {
    const startedMs = nowMs()
    // The key is read at each call, from a cache, so that a rotation needs no restart.
    const key = await readProviderKey(secrets, stage, isKeyRefused ? 'fresh' : undefined).catch(
      () => undefined,
    )
    // A slow read of the key takes its time from the call, which may not outlive its caller's
    // deadline.
    const timeoutMs = (call.timeoutMs ?? PROVIDER_READ_TIMEOUT_MS) - (nowMs() - startedMs)
    if (key === undefined || timeoutMs <= 0) return { kind: 'no_key' }
    const url = new URL(path, baseUrl)
    url.search = query?.toString() ?? ''
    const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`
    const allHeaders = { authorization, 'api-version': '2024-11-11', ...headers }
    const outcome = await makeCall({ ...call, method, timeoutMs, url, headers: allHeaders })
    noteLimit(operation, outcome)
    isKeyRefused =
      outcome.kind === 'answered' &&
      (outcome.status === 401 || errorCodeOf(outcome.json) === 'REQUEST_FORBIDDEN_ERROR')
    return outcome
  }
  return {
    ...limits,
    isNonWalletCode,
    createRequest: (input, timeoutMs) => createRequest(send, input, timeoutMs),
    getRequest: (id, timeoutMs) => getRequest(send, id, timeoutMs),
    getPayment: (id, timeoutMs) =>
      getAnswer(
        send,
        { operation: 'getPayment', path: `/v3/payments/${id}`, id, timeoutMs },
        v.pipe(
          PaymentSchema,
          v.check(({ providerPaymentId }) => providerPaymentId === id),
        ),
      ),
    cancelRequest: (id, timeoutMs = PROVIDER_READ_TIMEOUT_MS) => {
      const endsAtMs = nowMs() + timeoutMs
      return cancelRequest(send, id, () => Math.max(1, endsAtMs - nowMs()))
    },
    listTransactions: (filter, timeoutMs) => listTransactions(send, filter, timeoutMs),
    getBalance: () => {
      const query = new URLSearchParams({ account_type: CASH_ACCOUNT, currency: 'IDR' })
      return getAnswer(
        send,
        { operation: 'getBalance', path: '/balance', query, timeoutMs: undefined },
        BalanceSchema,
      )
    },
  }
}

const SHORTEST_PAUSE_MS = 500

/** Keeps the limits of the provider's last answers until they expire, or the clock is set back. */
function rateLimits(nowMs: () => number) {
  const limits = new Map<ProviderOperation, RateLimit & { pauseMs: number; fromMs: number }>()
  const latestOf = (operation: ProviderOperation) => {
    const latest = limits.get(operation)
    return latest && latest.fromMs <= nowMs() ? latest : undefined
  }
  return {
    noteLimit: (operation: ProviderOperation, outcome: HttpOutcome) => {
      if (outcome.kind !== 'answered' || outcome.rateLimit === undefined) return
      const { status, rateLimit } = outcome
      const isUsedUp = rateLimit.remaining === 0 || status === 429
      const pauseMs = isUsedUp
        ? Math.min(Math.max(rateLimit.resetMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)
        : 0
      limits.set(operation, { ...rateLimit, pauseMs, fromMs: nowMs() })
    },
    callsLeft: (operation: ProviderOperation) => {
      const latest = latestOf(operation)
      return latest && nowMs() < latest.fromMs + latest.resetMs ? latest.remaining : undefined
    },
    callsOfMinute: (operation: ProviderOperation) => limits.get(operation)?.limit,
    pauseMs: (operation: ProviderOperation) => {
      const { fromMs = 0, pauseMs = 0 } = latestOf(operation) ?? {}
      return Math.max(0, fromMs + pauseMs - nowMs())
    },
  }
}

async function createRequest(
  send: Send,
  input: CreateRequestInput,
  timeoutMs: number,
): Promise<CreateAnswer> {
  const outcome = await send({
    operation: 'createRequest',
    method: 'POST',
    path: REQUESTS,
    // Not documented for this call; harmless, because each attempt has its own reference.
    headers: { 'idempotency-key': input.reference },
    body: createBody(input),
    timeoutMs,
    freshConnection: true,
  })
  if (outcome.kind === 'no_key') return { kind: 'not_executed', reason: 'no usable provider key' }
  return createAnswer(outcome, input)
}

/** Counts as a provider failure. */
const UNREADABLE: Unanswered = { kind: 'unanswered', reason: 'server_error' }

async function getAnswer<Schema extends v.GenericSchema>(
  send: Send,
  { id, ...call }: Call & { readonly id?: string },
  schema: Schema,
): Promise<Answer<v.InferOutput<Schema>>> {
  // The provider makes no id of another form, and such an id must not change the path.
  if (id !== undefined && !isProviderId(id)) return { kind: 'not_found' }
  const outcome = await send(call)
  if (outcome.kind !== 'answered' || outcome.status !== 200) return failureOf(outcome, id)
  const value = ifValid(schema, outcome.json)
  return value === undefined ? UNREADABLE : { kind: 'found', value }
}

function failureOf(outcome: Outcome, id?: string): Unanswered | { readonly kind: 'not_found' } {
  if (outcome.kind === 'no_key') return { kind: 'unanswered', reason: 'misconfigured' }
  if (outcome.kind !== 'answered') return { kind: 'unanswered', reason: 'unreachable' }
  const { status, json } = outcome
  if (status === 429) return { kind: 'unanswered', reason: 'rate_limited' }
  const code = errorCodeOf(json)
  // 408 is a timeout of a server or proxy, and only a proxy gives no code: neither refuses the
  // request.
  if (code === undefined || status < 400 || status >= 500 || status === 408) return UNREADABLE
  // A row of another product may have such an id.
  const isOtherId = id !== undefined && id.length !== ID_LENGTH
  if (status === 404 || (isOtherId && status === 400)) return { kind: 'not_found' }
  const reason = status === 401 || status === 403 ? 'misconfigured' : 'refused'
  return { kind: 'unanswered', reason, code }
}

function getRequest(send: Send, id: string, timeoutMs?: number) {
  const call = { operation: 'getRequest', path: `${REQUESTS}/${id}`, id, timeoutMs } as const
  return getAnswer(send, call, requestSchema(id))
}

function requestSchema(id: string) {
  return v.pipe(
    RequestSchema,
    v.check(({ paymentRequestId }) => paymentRequestId === id),
  )
}

async function cancelRequest(send: Send, id: string, leftMs: () => number): Promise<CancelAnswer> {
  if (!isProviderId(id)) return { kind: 'not_found' }
  const path = `${REQUESTS}/${id}/cancel`
  const call = { operation: 'cancelRequest', method: 'POST', path } as const
  const outcome = await send({ ...call, timeoutMs: leftMs() })
  if (outcome.kind !== 'answered') return failureOf(outcome)
  if (outcome.status === 200)
    return afterCancel(ifValid(requestSchema(id), outcome.json)?.status, UNREADABLE)
  const code = outcome.status === 400 ? errorCodeOf(outcome.json) : undefined
  switch (code ?? '') {
    case 'INACTIVE_PAYMENT_REQUEST':
      return { kind: 'final' }
    case 'TEMPORARILY_UNAVAILABLE':
      return UNREADABLE
    // No document lists the states of the first code, or the channels of the second: a paid request
    // may get either.
    case 'INELIGIBLE_TRANSACTION_STATUS':
    case 'API_VALIDATION_ERROR': {
      const answer = await getRequest(send, id, leftMs())
      return answer.kind === 'found'
        ? afterCancel(answer.value.status, { kind: 'not_cancellable' })
        : answer
    }
    default:
      return failureOf(outcome)
  }
}

function afterCancel(status: ProviderRequestStatus = 'unknown', ifOpen: CancelAnswer) {
  if (status === 'unknown') return UNREADABLE
  if (status === 'open') return ifOpen
  return { kind: status === 'cancelled' ? 'cancelled' : 'final' } as const
}

async function listTransactions(
  send: Send,
  filter: TransactionFilter,
  timeoutMs: number | undefined,
) {
  const query = new URLSearchParams({ limit: String(filter.limit) })
  const optional = {
    after_id: filter.afterId,
    product_id: filter.providerPaymentId,
    reference_id: filter.reference,
    channel_categories: filter.category,
    'created[gte]': filter.createdFrom,
    'created[lte]': filter.createdTo,
    'updated[gte]': filter.updatedFrom,
    'updated[lte]': filter.updatedTo,
  }
  for (const [name, value] of Object.entries(optional))
    if (value !== undefined) query.set(name, value)
  // Without a filter every type is listed. The filter refuses some types that the provider books.
  const types = filter.rows === 'others' ? OTHER_TYPES : filter.rows ? [] : ['PAYMENT']
  for (const type of types) query.append('types', type)
  if (filter.rows === 'reversed')
    for (const status of ['VOIDED', 'REVERSED']) query.append('statuses', status)
  const call = { operation: 'listTransactions', path: '/transactions', query, timeoutMs } as const
  const outcome = await send(call)
  if (outcome.kind !== 'answered' || outcome.status !== 200 || outcome.json === undefined) {
    const answer = failureOf(outcome)
    return answer.kind === 'not_found' ? refusedAs('NOT_FOUND') : answer
  }
  const page = ifValid(TransactionPageSchema, outcome.json)
  if (page === undefined) return refusedAs('UNREADABLE_PAGE')
  return { kind: 'found', value: rowsAskedFor(page, filter) } as const
}

// A list always exists, so a 404 means that our request is wrong. No repetition makes a page
// readable: the adapter must be repaired.
function refusedAs(code: string): Unanswered {
  return { kind: 'unanswered', reason: 'refused', code }
}

/** Rows of other payments would decide about this one, for example that its push was not paid. */
function rowsAskedFor(page: TransactionPage, filter: TransactionFilter): TransactionPage {
  const { providerPaymentId, reference } = filter
  const transactions = page.transactions.filter(
    (row) =>
      (providerPaymentId === undefined || row.providerPaymentId === providerPaymentId) &&
      (reference === undefined || row.reference === reference),
  )
  return { ...page, transactions }
}
