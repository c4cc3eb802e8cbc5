import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { DeliveriesSchema, type Merchant, type Payment } from './merchant.ts'
import { expect, type Rehearsal } from './rehearsal.ts'

const PER_PAGE = 100

/** Each create gets a 201, each payment is credited, each webhook arrives at once. */
export async function inTraffic(
  rehearsal: Rehearsal,
  merchant: Merchant,
  name: string,
  change: () => Promise<unknown>,
) {
  let isOver = false
  const changed = change().finally(() => void (isOver = true))
  // The change ends before a failure of the traffic is thrown: no other step may run at the same
  // time.
  const [made, traffic] = await Promise.allSettled([
    changed,
    sell(rehearsal, merchant, name, () => isOver),
  ])
  if (made.status === 'rejected') throw made.reason
  if (traffic.status === 'rejected') throw traffic.reason
  await announcedAtOnce(rehearsal, merchant, traffic.value)
}

async function sell(
  { cannot }: Rehearsal,
  merchant: Merchant,
  name: string,
  isOver: () => boolean,
) {
  const paid: Payment[] = []
  let late = 0
  for (let at = 0; paid.length < 3 || !isOver(); at++) {
    const created = await merchant.create(`${name}-${at}`).catch((error: unknown) => {
      // A merchant would retry. Here another payment is made, twice at most.
      if (!String(error).includes('the payment is still being created') || ++late > 2) throw error
      cannot(
        'a busy emulator answers a write after the SDK has sent it again: a create in traffic ' +
          'was left out for it',
      )
      return undefined
    })
    if (created !== undefined) paid.push(await merchant.pay(created))
    // Below the limit of a client in `dev`.
    await sleep(1_000)
  }
  return paid
}

/** Operators look: a merchant's own lists count against its limit. */
async function announcedAtOnce(
  { admin, eventually, cannot }: Rehearsal,
  merchant: Merchant,
  paid: readonly Payment[],
) {
  const events: string[] = []
  for (const payment of paid) {
    const { body } = await eventually(
      `a webhook of ${payment.id}`,
      async () => (await merchant.webhooksOf(payment))[0],
    )
    events.push(v.parse(v.object({ event_id: v.string() }), JSON.parse(body)).event_id)
  }
  const attempted = new Map<string, string>()
  for (let page = 1; page <= Math.ceil(paid.length / PER_PAGE) + 1; page++) {
    const asked = { client_id: merchant.clientId, per_page: PER_PAGE, page }
    const { data } = v.parse(DeliveriesSchema, await admin('list-deliveries', asked))
    for (const { event_id: id, attempts } of data)
      attempted.set(id, attempts.map((attempt) => attempt.http_status).join(', '))
  }
  // A worker whose write timed out has no result of its attempt. The next attempt has one.
  const isLate = (answered: string | undefined) => answered === ', 200'
  const answers = events.map((id) => attempted.get(id))
  const late = answers.filter(isLate).length
  if (late > 0) cannot('a busy emulator lost the result of a webhook: it was sent twice')
  const failed = answers.filter(
    (answered) => answered !== '200' && !(isLate(answered) && late <= 2),
  )
  expect(failed.length === 0, `webhooks were answered ${failed.join('; ')}`)
}
