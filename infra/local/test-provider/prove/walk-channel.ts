import type { Channel } from '../../../../shared/channel/channels.ts'
import { AMOUNT, createFor } from './create-for.ts'
import type { Answered, Interview, Json } from './interview.ts'

export const REQUESTS = '/v3/payment_requests'
const POLLS = 8
const POLL_MS = 2_000
export type ChannelWalk = {
  readonly name: string
  readonly created: Answered
  /** Undefined if the channel refused the create. */
  readonly paid?: {
    readonly simulated: Answered
    readonly request: Json
    /** Undefined if the request did not succeed in time. */
    readonly row: Json | undefined
    readonly reads: number
  }
  readonly cancelled?: { readonly answer: Answered; readonly simulated: Answered }
}

/** Pays a payment and looks for its row; then cancels another, and tries to pay it. */
export async function walkChannel(
  { ask, wait, newReference }: Interview,
  channel: Channel,
): Promise<ChannelWalk> {
  const name = nameOf(channel)
  const reference = newReference()
  const create = (what: string, body: object) =>
    ask(`${name}: ${what}`, { method: 'POST', path: REQUESTS, body })
  const created = await create('create', await createFor(channel, reference))
  const path = `${REQUESTS}/${String(created.json['payment_request_id'])}`
  if (created.status >= 300) return { name, created }

  const pay = (what: string, requestPath: string) =>
    ask(`${name}: ${what}`, {
      method: 'POST',
      path: `${requestPath}/simulate`,
      body: { amount: AMOUNT },
    })
  const simulated = await pay('pay', path)
  let request = created.json
  for (let poll = 0; poll < POLLS && isOpen(request); poll++) {
    if (poll > 0) await wait(POLL_MS)
    request = (await ask(`${name}: read the request`, { path })).json
  }
  const paymentId = request['latest_payment_id']
  if (typeof paymentId === 'string' && paymentId !== '')
    await ask(`${name}: read the payment`, { path: `/v3/payments/${paymentId}` })
  let row: Json | undefined
  let reads = 0
  while (request['status'] === 'SUCCEEDED' && row === undefined && reads < POLLS) {
    if (reads > 0) await wait(POLL_MS)
    reads++
    const found = await ask(`${name}: read the row`, {
      path: `/transactions?limit=10&reference_id=${reference}`,
    })
    row = rowsOf(found)[0]
  }

  const other = await create('create another', await createFor(channel, newReference()))
  const otherPath = `${REQUESTS}/${String(other.json['payment_request_id'])}`
  const answer = await ask(`${name}: cancel`, { method: 'POST', path: `${otherPath}/cancel` })
  const late = await pay('pay the cancelled one', otherPath)
  return {
    name,
    created,
    paid: { simulated, request, row, reads },
    cancelled: { answer, simulated: late },
  }
}

export function nameOf(channel: Channel) {
  return channel.code || 'QRIS'
}

function isOpen({ status }: Json) {
  return ['REQUIRES_ACTION', 'PENDING', 'ACCEPTING_PAYMENTS'].includes(String(status))
}

export function rowsOf({ json }: Answered): readonly Json[] {
  return Array.isArray(json['data']) ? json['data'] : []
}
