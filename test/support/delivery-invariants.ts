import { createHmac } from 'node:crypto'
import { amount, type Books, type Seen, text } from './books.ts'

const WAITS_MS = [60, 120, 240, 480, 960, 1_920, 3_840].map((seconds) => seconds * 1_000)

/** Whose payment a webhook's bytes are about; a test event names its client too. */
const clientIn = (body: string): unknown => Object(Object(JSON.parse(body)).data).client_id

export const deliveryProblems = ({ deliveries, attempts }: Books, seen: Seen): string[] =>
  deliveries.flatMap((delivery) => {
    const id = text(delivery, 'delivery_id')
    const problems: string[] = []
    const rows = attempts.filter(({ pk }) => pk === delivery['pk'])
    const posts = seen.webhooks.filter(({ deliveryId }) => deliveryId === id)
    const made = amount(delivery, 'attempts')
    const round = made - amount(delivery, 'round_start')
    if (rows.length !== made) problems.push(`delivery ${id}: ${made} attempts, ${rows.length} rows`)
    if (round > 8) problems.push(`delivery ${id}: ${round} attempts in one round`)
    const live = delivery['claim_token'] === undefined ? 0 : 1
    if (posts.length > made + live) problems.push(`delivery ${id}: ${posts.length} POSTs for ${made} attempts`)
    if (delivery['status'] === 'succeeded' && !posts.some(({ answered }) => answered === 200))
      problems.push(`delivery ${id} succeeded unheard`)
    if (posts.some(({ body }) => body !== delivery['body'])) problems.push(`delivery ${id}: the bytes changed`)
    const owner = text(delivery, 'client_id')
    if (seen.endpointsOfClient.get(owner)?.includes(text(delivery, 'endpoint_id')) === false)
      problems.push(`delivery ${id} goes to an endpoint of another client`)
    for (const { url, body, signature } of posts) {
      if (clientIn(body) !== owner) problems.push(`delivery ${id} told one client of another's payment`)
      const secret = seen.secretOfUrl.get(url) ?? ''
      if (createHmac('sha256', secret).update(body).digest('hex') !== signature)
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
