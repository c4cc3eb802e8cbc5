import { createHmac } from 'node:crypto'
import { amount, type Books, type RawItem, type Seen, text } from './books.ts'

/**
 * Each transition, each movement, the dispute and held money has its event, and each event at most
 * one delivery to an endpoint.
 */
export function eventProblems(
  { payments, events, deliveries }: Books,
  { endpointsOfClient }: Seen,
) {
  const problems: string[] = []
  for (const payment of payments) {
    const names = events
      .filter(({ payment_id: id }) => id === payment['payment_id'])
      .map((event) => text(event, 'type'))
    const isOfDispute = (name: string) => name.startsWith('payment.disputed#')
    const isOfHeld = (name: string) => name.startsWith('payment.held#')
    const found = names.filter((name) => !isOfDispute(name) && !isOfHeld(name))
    const held = ((payment['held'] ?? []) as readonly RawItem[]).map(
      (item) => `payment.held#${text(item, 'suspenseId')}#${text(item, 'status')}`,
    )
    if (!held.every((name) => names.includes(name)) || (held.length === 0 && names.some(isOfHeld)))
      problems.push(`payment ${text(payment, 'payment_id')} shows other held money than its events`)
    const { caseId, state } = Object(payment['dispute'])
    const shown = caseId === undefined ? [] : [`payment.disputed#${caseId}#${state}`]
    if (!shown.every((name) => names.includes(name)) || (!caseId && names.some(isOfDispute)))
      problems.push(`payment ${text(payment, 'payment_id')} shows another dispute than its events`)
    const status = text(payment, 'status')
    const expected = ((payment['movements'] ?? []) as readonly RawItem[]).map(
      (movement) => `payment.reversed#${text(movement, 'transactionId')}#${text(movement, 'type')}`,
    )
    if (['succeeded', 'failed', 'expired'].includes(status)) expected.push(`payment.${status}`)
    if (found.toSorted().join() !== expected.toSorted().join())
      problems.push(`payment ${text(payment, 'payment_id')} (${status}) has events ${found.join()}`)
  }
  const deliveriesOf = Map.groupBy(deliveries, (item) => item['event_id'])
  for (const event of events) {
    for (const endpoint of endpointsOfClient.get(text(event, 'client_id')) ?? []) {
      const found = (deliveriesOf.get(event['event_id']) ?? []).filter(
        (item) => item['endpoint_id'] === endpoint,
      )
      if (found.length > 1)
        problems.push(
          `event ${text(event, 'event_id')} has ${found.length} deliveries to ${endpoint}`,
        )
      else if ((found[0]?.['body'] ?? event['body']) !== event['body'])
        problems.push(`event ${text(event, 'event_id')} is delivered with other bytes`)
    }
  }
  return problems
}

/** Waits after the first, second, ... failure of a round (spec 6.4). */
const WAITS_MS = [60, 120, 240, 480, 960, 1_920, 3_840].map((seconds) => seconds * 1_000)

/** Each attempt is at its time, to its endpoint, with the same bytes, signed. */
export function deliveryProblems({ deliveries, attempts, events }: Books, seen: Seen) {
  const postsOf = Map.groupBy(seen.webhooks, ({ deliveryId }) => deliveryId)
  const rowsOf = Map.groupBy(attempts, ({ pk }) => pk)
  const eventOf = new Map(events.map((event) => [event['event_id'], event]))
  return deliveries.flatMap((delivery) => {
    const id = text(delivery, 'delivery_id')
    const problems: string[] = []
    const held = delivery['success'] === undefined ? [] : [Object(delivery['success']) as RawItem]
    const rows = [...held, ...(rowsOf.get(String(delivery['pk'])) ?? [])]
    const posts = postsOf.get(id) ?? []
    const made = amount(delivery, 'attempts')
    const round = made - amount(delivery, 'round_start')
    if (rows.length !== made) problems.push(`delivery ${id}: ${made} attempts, ${rows.length} rows`)
    if (delivery['state'] !== undefined && delivery['state'] !== delivery['status'])
      problems.push(`delivery ${id} is listed by its status and is not`)
    if (round > 8) problems.push(`delivery ${id}: ${round} attempts in one round`)
    const live = delivery['claim_token'] === undefined ? 0 : 1
    if (posts.length > made + live)
      problems.push(`delivery ${id}: ${posts.length} POSTs for ${made} attempts`)
    if (delivery['status'] === 'succeeded' && !posts.some(({ answered }) => answered === 200))
      problems.push(`delivery ${id} succeeded unheard`)
    const bytes = delivery['body'] ?? eventOf.get(delivery['event_id'])?.['body']
    if (posts.some(({ body }) => body !== bytes)) problems.push(`delivery ${id}: the bytes changed`)
    const owner = text(delivery, 'client_id')
    // An endpoint whose registration was not answered is unknown, and so is its secret.
    const endpointId = text(delivery, 'endpoint_id')
    const isKnown = [...seen.endpointsOfClient.values()].some((endpoints) =>
      endpoints.includes(endpointId),
    )
    if (isKnown && seen.endpointsOfClient.get(owner)?.includes(endpointId) === false)
      problems.push(`delivery ${id} goes to an endpoint of another client`)
    for (const post of posts) {
      const { client, signature } = readPost(post, seen.secretOfUrl.get(post.url) ?? '')
      if (client !== owner) problems.push(`delivery ${id} told one client of another's payment`)
      if (isKnown && signature !== post.signature)
        problems.push(`delivery ${id}: a wrong signature`)
    }
    if (amount(delivery, 'round_start') === 0) {
      const inOrder = rows.toSorted((a, b) => amount(a, 'number') - amount(b, 'number'))
      for (const [at, row] of inOrder.slice(1).entries()) {
        const apartMs = Date.parse(text(row, 'at')) - Date.parse(text(inOrder[at] ?? {}, 'at'))
        // An attempt lost with its worker is repeated at once. A second lost attempt in a row is
        // repeated after its wait.
        const isLost =
          inOrder[at]?.['error'] === 'unknown' && inOrder[at - 1]?.['error'] !== 'unknown'
        if (apartMs < (isLost ? 0 : (WAITS_MS[at] ?? 0)))
          problems.push(`delivery ${id}: attempt ${at + 2} came early`)
      }
    }
    return problems
  })
}

type Post = Seen['webhooks'][number]

/** Received POSTs never change, so each is read once for all checks. */
const known = new WeakMap<
  Post,
  { readonly client: unknown; readonly secret: string; readonly signature: string }
>()

/**
 * The client and payment in a webhook's bytes (a test event also names its client), and their
 * signature by this secret.
 */
function readPost(post: Post, secret: string) {
  const before = known.get(post)
  if (before?.secret === secret) return before
  const signature = createHmac('sha256', secret).update(post.body).digest('hex')
  const found = {
    client: Object(Object(JSON.parse(post.body)).data).client_id as unknown,
    secret,
    signature,
  }
  known.set(post, found)
  return found
}
