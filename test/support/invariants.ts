/**
 * What must be true of the whole gateway, checked on the table's raw items and on what the outside world has seen, by
 * arithmetic that shares nothing with the gateway's own.
 */
import { createHmac } from 'node:crypto'
import {
  amount,
  type Books,
  booksOf,
  ledgerProblems,
  partProblems,
  type RawItem,
  reversalProblems,
  type Seen,
  text,
} from './books.ts'
import { leftOutProblems, settlementProblems } from './settlement-books.ts'

const moneyProblems = ({ payments, suspense }: Books, { captured, turned }: Seen): string[] => {
  const credited = new Map(
    payments.flatMap((item) =>
      item['credited_payment_id'] ? [[text(item, 'credited_payment_id'), item] as const] : [],
    ),
  )
  const held = new Set(suspense.filter(({ kind }) => kind === 'money').map((item) => text(item, 'suspense_id')))
  const told = new Set(suspense.map((item) => text(item, 'provider_payment_id')))
  return [...captured].flatMap(([providerPaymentId, received]) => {
    const payment = credited.get(providerPaymentId)
    if (payment && held.has(providerPaymentId)) return [`${providerPaymentId} is credited and held`]
    // Money that came and went before anybody looked is a finding.
    const isGone = turned.includes(providerPaymentId) && told.has(providerPaymentId)
    if (!payment && !held.has(providerPaymentId) && !isGone)
      return [`${providerPaymentId}: ${received} IDR are neither credited nor held`]
    if (payment && amount(payment, 'notional_minor') !== received)
      return [`${providerPaymentId} was credited with another amount`]
    return []
  })
}

/** Whatever the provider has taken back whole is shown on the payment that was credited with it. */
const turnedProblems = ({ payments }: Books, turned: Seen['turned']): string[] =>
  payments
    .filter((item) => turned.includes(text(item, 'credited_payment_id')) && item['reversal'] === undefined)
    .map((item) => `payment ${text(item, 'payment_id')} does not show that its money went back`)

/** Whatever the provider has booked of money that goes back or comes again counts on a payment, or a person is told. */
const bookedBackProblems = ({ payments, suspense }: Books, bookedBack: Seen['bookedBack']): string[] => {
  const counted = new Set(payments.flatMap((item) => [...((item['reversal_ids'] ?? []) as Set<string>)]))
  const told = suspense.map((item) => text(item, 'suspense_id'))
  return bookedBack
    .filter((id) => !counted.has(id) && !told.some((suspenseId) => suspenseId.startsWith(id)))
    .map((id) => `nobody knows of money by ${id}`)
}

/** A merchant hears of a cancel from its answer alone: nothing may be cancelled that it did not ask for, or has expired. */
const cancelProblems = ({ payments }: Books): string[] =>
  payments
    .filter((item) => text(item, 'status') === 'cancelled')
    .filter((item) => item['cancel_requested_at'] === undefined || item['expiry_started_at'] !== undefined)
    .map((item) => `payment ${text(item, 'payment_id')} was cancelled by nobody who may`)

/** What leads to payments: from all that have the attribute, and once. */
const ledProblems = (payments: readonly RawItem[], pointers: readonly RawItem[], attribute: string): string[] => {
  const having = payments.filter((item) => text(item, attribute) !== '')
  const pointed = pointers.map((item) => text(item, 'payment_id'))
  const expected = new Set(having.map((item) => text(item, 'payment_id')))
  return [
    ...[...expected].filter((id) => !pointed.includes(id)).map((id) => `no ${attribute} leads to payment ${id}`),
    ...pointed
      .filter((id, at) => !expected.has(id) || pointed.indexOf(id) < at)
      .map((id) => `a ${attribute} leads to ${id}, which has none or is led to twice`),
  ]
}

/** An operator finds whoever's payment by what its customer was shown, a merchant its own by what it called it. */
const pointerProblems = ({ payments, pointers, references }: Books, { unreferenced }: Seen): string[] => [
  ...ledProblems(payments, pointers, 'payment_destination'),
  ...ledProblems(
    payments.filter((item) => !unreferenced.has(text(item, 'payment_id'))),
    references,
    'external_reference',
  ),
]

const EVENT_OF: Readonly<Record<string, string>> = {
  succeeded: 'payment.succeeded',
  failed: 'payment.failed',
  expired: 'payment.expired',
}

const eventProblems = ({ payments, events, deliveries }: Books, { endpointsOfClient, mustHear }: Seen): string[] => {
  const problems: string[] = []
  for (const payment of payments) {
    const own = events.filter(({ pk }) => pk === payment['pk'])
    const expected = EVENT_OF[text(payment, 'status')]
    if (own.length !== (expected ? 1 : 0) || (expected && own[0]?.['type'] !== expected)) {
      problems.push(
        `payment ${text(payment, 'payment_id')} (${text(payment, 'status')}) has events ${own.map((event) => text(event, 'type')).join()}`,
      )
    }
  }
  for (const event of events) {
    const endpoints = endpointsOfClient.get(text(event, 'client_id')) ?? []
    for (const endpoint of endpoints) {
      const found = deliveries.filter(
        (item) => item['event_id'] === event['event_id'] && item['endpoint_id'] === endpoint,
      )
      if (found.length > 1 || (found.length === 0 && mustHear(endpoint, event)))
        problems.push(`event ${text(event, 'event_id')} has ${found.length} deliveries to ${endpoint}`)
      else if ((found[0]?.['body'] ?? event['body']) !== event['body'])
        problems.push(`event ${text(event, 'event_id')} is delivered with other bytes`)
    }
  }
  return problems
}

const WAITS_MS = [60, 120, 240, 480, 960, 1_920, 3_840].map((seconds) => seconds * 1_000)

/** Whose payment a webhook's bytes are about; a test event names its client too. */
const clientIn = (body: string): unknown => Object(Object(JSON.parse(body)).data).client_id

const deliveryProblems = ({ deliveries, attempts, events }: Books, seen: Seen): string[] =>
  deliveries.flatMap((delivery) => {
    const id = text(delivery, 'delivery_id')
    const problems: string[] = []
    const held = delivery['success'] === undefined ? [] : [Object(delivery['success']) as RawItem]
    const rows = [...held, ...attempts.filter(({ pk }) => pk === delivery['pk'])]
    const posts = seen.webhooks.filter(({ deliveryId }) => deliveryId === id)
    const made = amount(delivery, 'attempts')
    const round = made - amount(delivery, 'round_start')
    if (rows.length !== made) problems.push(`delivery ${id}: ${made} attempts, ${rows.length} rows`)
    if (delivery['state'] !== undefined && delivery['state'] !== delivery['status'])
      problems.push(`delivery ${id} is listed by its status and is not`)
    if (round > 8) problems.push(`delivery ${id}: ${round} attempts in one round`)
    const live = delivery['claim_token'] === undefined ? 0 : 1
    if (posts.length > made + live) problems.push(`delivery ${id}: ${posts.length} POSTs for ${made} attempts`)
    if (delivery['status'] === 'succeeded' && !posts.some(({ answered }) => answered === 200))
      problems.push(`delivery ${id} succeeded unheard`)
    const bytes = delivery['body'] ?? events.find((event) => event['event_id'] === delivery['event_id'])?.['body']
    if (posts.some(({ body }) => body !== bytes)) problems.push(`delivery ${id}: the bytes changed`)
    const owner = text(delivery, 'client_id')
    // One whose registration was not answered is known to nobody, with its secret.
    const endpointId = text(delivery, 'endpoint_id')
    const isKnown = [...seen.endpointsOfClient.values()].some((known) => known.includes(endpointId))
    if (isKnown && seen.endpointsOfClient.get(owner)?.includes(endpointId) === false)
      problems.push(`delivery ${id} goes to an endpoint of another client`)
    for (const { url, body, signature } of posts) {
      if (clientIn(body) !== owner) problems.push(`delivery ${id} told one client of another's payment`)
      const secret = seen.secretOfUrl.get(url) ?? ''
      if (isKnown && createHmac('sha256', secret).update(body).digest('hex') !== signature)
        problems.push(`delivery ${id}: a wrong signature`)
    }
    if (amount(delivery, 'round_start') === 0) {
      const times = rows
        .toSorted((a, b) => amount(a, 'number') - amount(b, 'number'))
        .map((row) => Date.parse(text(row, 'at')))
      for (const [at, time] of times.slice(1).entries()) {
        if (time - (times[at] ?? 0) < (WAITS_MS[at] ?? 0)) problems.push(`delivery ${id}: attempt ${at + 2} came early`)
      }
    }
    return problems
  })

const merchantProblems = (seen: Seen): string[] => [
  ...[...seen.destinationsOfKey]
    .filter(([, shown]) => shown.size > 1)
    .map(([key]) => `${key} was shown two destinations`),
  ...[...seen.paymentsOfKey].filter(([, shown]) => shown.size > 1).map(([key]) => `${key} became two payments`),
]

const stillbornProblems = ({ payments }: Books): string[] =>
  payments
    .filter(
      (payment) => payment['expires_at'] !== undefined && text(payment, 'expires_at') <= text(payment, 'created_at'),
    )
    .map((payment) => `payment ${text(payment, 'payment_id')} expired before it was created`)

const logProblems = ({ logLines, confidential }: Seen): string[] =>
  confidential.flatMap((secret) => {
    const line = logLines.find((candidate) => candidate.includes(secret))
    return line === undefined ? [] : [`a log line holds something confidential: ${line}`]
  })

/** What must hold whenever nothing is half done between two writes: after every step of a history. */
export const problemsOf = (items: readonly RawItem[], seen: Seen): readonly string[] => {
  const books = booksOf(items)
  return [
    ...ledgerProblems(books),
    ...settlementProblems(books),
    ...leftOutProblems(books),
    ...partProblems(books),
    ...reversalProblems(books),
    ...stillbornProblems(books),
    ...deliveryProblems(books, seen),
    ...cancelProblems(books),
    ...pointerProblems(books, seen),
    ...merchantProblems(seen),
    ...logProblems(seen),
  ]
}

/** The row of an abandoned delivery says that its alert is owed; to the release before, it alone. */
const untoldProblems = ({ deliveries, untold }: Books, { toldByFormer }: Seen): string[] => {
  const owing = deliveries.filter((item) => item['status'] === 'abandoned' && item['due_at'] !== undefined)
  const waiting = untold.filter((item) => {
    const row = deliveries.find((delivery) => delivery['delivery_id'] === item['delivery_id'])
    const isToldByRow = row?.['status'] === 'abandoned' && row['attempts'] === item['attempts']
    return !isToldByRow && !toldByFormer.some((message) => message.includes(text(item, 'delivery_id')))
  })
  return [...owing, ...waiting].map((item) => `nobody was told of delivery ${text(item, 'delivery_id')}`)
}

/** What must hold besides once everything has come to rest. */
export const problemsAtRest = (items: readonly RawItem[], seen: Seen): readonly string[] => {
  const books = booksOf(items)
  const notTerminal = (kind: string, found: readonly RawItem[], id: string, resting: readonly string[]) =>
    found
      .filter((item) => !resting.includes(text(item, 'status')))
      .map((item) => `${kind} ${text(item, id)} does not rest: ${text(item, 'status')}`)
  return [
    ...problemsOf(items, seen),
    ...moneyProblems(books, seen),
    ...turnedProblems(books, seen.turned),
    ...bookedBackProblems(books, seen.bookedBack),
    ...eventProblems(books, seen),
    ...notTerminal('payment', books.payments, 'payment_id', ['succeeded', 'failed', 'expired', 'cancelled']),
    ...notTerminal('delivery', books.deliveries, 'delivery_id', ['succeeded', 'abandoned', 'skipped']),
    ...books.events
      .filter((event) => event['due_at'] !== undefined)
      .map((event) => `event ${text(event, 'event_id')} was never fanned out`),
    ...untoldProblems(books, seen),
    ...books.suspense
      .filter((item) => item['work'] !== undefined)
      .map((item) => `nobody was told of ${text(item, 'suspense_id')}`),
    ...books.creating
      .filter((item) => item['work'] !== undefined)
      .map((item) => `payment ${text(item, 'payment_id')} is created for ever`),
  ]
}
