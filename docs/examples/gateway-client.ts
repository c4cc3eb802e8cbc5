import { randomUUID } from 'node:crypto'
import type {
  Balance,
  CreatePayment,
  Entry,
  EntryList,
  EventList,
  Payment,
  PaymentList,
  Redelivered,
  RedeliverToEndpoint,
  Settlement,
  SettlementList,
  Statement,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookEndpointList,
} from './gateway-schemas.ts'
import {
  GatewayRefused,
  type GatewayRequest,
  type RetryOptions,
  retryingGateway,
} from './retrying-gateway.ts'

/*
 * A client for the gateway. Copy it with the two files that it imports; it needs nothing else. Its
 * types are those of docs/openapi.yaml. It retries a request until a deadline if a retry is safe:
 * see retrying-gateway.ts.
 */

export type ClientOptions = RetryOptions & { readonly baseUrl: string; readonly apiKey: string }

type CreateOptions = {
  /**
   * Identifies the payment. Store it with your order, and send it in every call for that payment.
   * Without it, the call and its retries use a new random key. If the call fails,
   * `GatewayRefused.idempotencyKey` has that key.
   */
  readonly idempotencyKey?: string
}

type DeliveryFilter = {
  readonly status?: WebhookDelivery['status']
  readonly endpoint_id?: string
  readonly event_id?: string
}

type Missed = Pick<RedeliverToEndpoint, 'since' | 'status'>

type ListFilter = { readonly status?: Payment['status']; readonly external_reference?: string }

type StatementDays = { readonly from?: string; readonly to?: string }

const PER_PAGE = 100

/** Every call that a merchant can make. */
export function gatewayClient(options: ClientOptions) {
  const call = retryingGateway(options)

  const get = <Answer>(path: string, query: GatewayRequest['query'] = {}) =>
    call<Answer>({ method: 'GET', path, query })

  const getPayment = (id: string) => get<Payment>(`/v1/payments/${encodeURIComponent(id)}`)

  return {
    createPayment: (
      body: CreatePayment,
      { idempotencyKey = randomUUID() }: CreateOptions = {},
    ): Promise<Payment> =>
      call<Payment>({ method: 'POST', path: '/v1/payments', body, idempotencyKey }),

    getPayment,

    /** Returns the cancelled payment, even if an earlier try of this call cancelled it. */
    cancelPayment: async (id: string): Promise<Payment> => {
      try {
        return await call<Payment>({
          method: 'POST',
          path: `/v1/payments/${encodeURIComponent(id)}/cancel`,
        })
      } catch (error) {
        const payment = isStateConflict(error) ? await getPayment(id) : undefined
        if (payment?.status === 'cancelled') return payment
        throw error
      }
    },

    /** Undefined if the key has no payment yet: create it with the same key, never a new one. */
    findPaymentOfKey: async (idempotencyKey: string): Promise<Payment | undefined> =>
      (await get<PaymentList>('/v1/payments', { idempotency_key: idempotencyKey })).data[0],

    /**
     * All payments of the filter, newest first, each once. A payment created during the iteration
     * may be missing. Pending ones may end meanwhile: payments that move up are listed last.
     */
    listPayments: (filter: ListFilter = {}): AsyncGenerator<Payment, void> =>
      everyItemByPage(
        (page) => get<PaymentList>('/v1/payments', { ...filter, page, per_page: PER_PAGE }),
        filter.status === 'pending',
      ),

    getBalance: () => get<Balance>('/v1/balance', { include: 'settlements' }),

    /** The entries of the balance since a time, settled or not yet, oldest first. */
    listBalanceEntries: (since?: string): AsyncGenerator<Entry, void> =>
      everyItemByCursor((after) =>
        get<EntryList>('/v1/balance/entries', { since, after, limit: 1_000 }),
      ),

    /** All pages as one. Days of Asia/Jakarta, at most 100; by default this month so far. */
    getStatement: (days: StatementDays = {}): Promise<Statement> =>
      wholeStatement((after) => get<Statement>('/v1/statement', { ...days, after, limit: 1_000 })),

    getSettlement: (id: string) => get<Settlement>(`/v1/settlements/${encodeURIComponent(id)}`),

    listSettlements: (): AsyncGenerator<Settlement, void> =>
      everyItemByPage((page) =>
        get<SettlementList>('/v1/settlements', { page, per_page: PER_PAGE }),
      ),

    /** The entries of a settlement. Their sums are the sums of the settlement. */
    listSettlementEntries: (id: string): AsyncGenerator<Entry, void> =>
      everyItemByCursor((after) =>
        get<EntryList>(`/v1/settlements/${encodeURIComponent(id)}/payments`, {
          after,
          limit: 1_000,
        }),
      ),

    /**
     * Pages of events, oldest first, up to the newest event. Process a page, then store its `next`.
     * Pass it as `after` in the next call. Recent events appear again, so process each `event_id`
     * once.
     */
    eventPages: ({ after, since }: { readonly after?: string; readonly since?: string } = {}) =>
      eventPages((position) => get<EventList>('/v1/events', { ...position, limit: PER_PAGE }), {
        after,
        since,
      }),

    listWebhookEndpoints: () => get<WebhookEndpointList>('/v1/webhook_endpoints'),

    /** Newest first. Of more than 2,000 it ends with the gateway's refusal of the next page. */
    listWebhookDeliveries: (filter: DeliveryFilter = {}): AsyncGenerator<WebhookDelivery, void> =>
      everyItemByPage(
        (page) =>
          get<WebhookDeliveryList>('/v1/webhook_deliveries', {
            ...filter,
            page,
            per_page: PER_PAGE,
          }),
        filter.status !== undefined,
      ),

    getWebhookDelivery: (id: string) =>
      get<WebhookDelivery>(`/v1/webhook_deliveries/${encodeURIComponent(id)}`),

    /** Starts a new round of attempts. The gateway refuses it while a round is in progress. */
    redeliverWebhook: (id: string) =>
      call<WebhookDelivery>({
        method: 'POST',
        path: `/v1/webhook_deliveries/${encodeURIComponent(id)}/redeliver`,
        once: true,
      }),

    /** Sends an endpoint all events that it missed since a time. Safe to repeat. */
    redeliverToEndpoint: async (id: string, missed: Missed): Promise<Omit<Redelivered, 'next'>> => {
      const path = `/v1/webhook_endpoints/${encodeURIComponent(id)}/redeliver`
      const sums = { count: 0, passed_over: 0 }
      for (let cursor: string | null = null; ; ) {
        const body: RedeliverToEndpoint = { ...missed, cursor }
        const {
          count,
          passed_over: passedOver = 0,
          next,
        }: Redelivered = await call({ method: 'POST', path, body })
        sums.count += count
        sums.passed_over += passedOver
        if (next === null) return sums
        cursor = next
      }
    },
  }
}

export type GatewayClient = ReturnType<typeof gatewayClient>

/**
 * A 422 without field errors: the request is valid, but the state of the item does not allow it.
 */
function isStateConflict(error: unknown): boolean {
  return (
    error instanceof GatewayRefused &&
    error.code === 'validation' &&
    error.fieldErrors === undefined
  )
}

/**
 * A new item moves the last item of a page to the next page. The iteration skips items with one of
 * the last ids.
 */
const REMEMBERED = 1_000

type NumberedPage<Item> = {
  readonly data: readonly Item[]
  readonly pagination: { readonly page: number; readonly total_pages?: number | undefined }
}

/**
 * A page may be shorter than asked, because an item that has changed meanwhile is left out. Items
 * that leave the list move others to an earlier page. So such a list is read again from the first
 * page, until that shows nothing new. Items created during the iteration do not prolong it.
 */
async function* everyItemByPage<Item extends { readonly id: string; readonly created_at: string }>(
  pageOf: (page: number) => Promise<NumberedPage<Item>>,
  itemsLeave = false,
): AsyncGenerator<Item, void> {
  const seen = new Set<string>()
  let seenBefore = 0
  let newest = ''
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await pageOf(page)
    if (itemsLeave) newest ||= data[0]?.created_at ?? ''
    for (const item of data) {
      if (seen.has(item.id) || (newest !== '' && item.created_at > newest)) continue
      seen.add(item.id)
      yield item
    }
    const { total_pages: last } = pagination
    if (!itemsLeave)
      for (const id of [...seen].slice(0, Math.max(0, seen.size - REMEMBERED))) seen.delete(id)
    if (last === undefined ? data.length > 0 : page < last) continue
    if (!itemsLeave || seen.size === seenBefore) return
    seenBefore = seen.size
    page = 0
  }
}

type CursorPage<Item> = {
  readonly data: readonly Item[]
  readonly next: string | null
  readonly has_more: boolean
}

async function* everyItemByCursor<Item>(
  pageOf: (after?: string) => Promise<CursorPage<Item>>,
): AsyncGenerator<Item, void> {
  for (let after: string | undefined; ; ) {
    const { data, next, has_more: hasMore } = await pageOf(after)
    yield* data
    if (!hasMore || next === null) return
    after = next
  }
}

async function wholeStatement(pageOf: (after?: string) => Promise<Statement>): Promise<Statement> {
  const lines: Statement['lines'][number][] = []
  for (let after: string | undefined; ; ) {
    const page = await pageOf(after)
    lines.push(...page.lines)
    if (page.next === null) return { ...page, lines }
    after = page.next
  }
}

type EventPosition = { readonly after?: string | undefined; readonly since?: string | undefined }

async function* eventPages(
  pageOf: (position: EventPosition) => Promise<EventList>,
  from: EventPosition,
): AsyncGenerator<{ readonly events: EventList['data']; readonly next: string }, void> {
  for (let position = from; ; ) {
    const { data, next, has_more: hasMore } = await pageOf(position)
    yield { events: data, next }
    if (!hasMore) return
    position = { after: next }
  }
}
