import * as v from 'valibot'
import { type Merchant, type Payment, PaymentSchema, requestOf } from '../merchant.ts'
import { call, eventually, expect, type Rehearsal } from '../rehearsal.ts'

export type TakenPayments = {
  readonly paid: Payment
  readonly reversed: Payment
  readonly cancelled: Payment
  /** Nobody will. */
  readonly unpaid: Payment
}

/** After the first failure of an attempt. */
const FIRST_WAIT_SECONDS = 60

const ANOTHER_AMOUNT_MINOR = 140_000

const DeliveriesSchema = v.object({
  data: v.array(
    v.object({
      payment_id: v.optional(v.string()),
      attempts: v.array(v.object({ http_status: v.nullable(v.number()) })),
    }),
  ),
})

/** Created, replayed, paid, announced at the second attempt, cancelled, reversed: all of it over HTTPS. */
export const takePayments = async (rehearsal: Rehearsal, merchant: Merchant): Promise<TakenPayments> => {
  const { step, world } = rehearsal
  const created = await step('a payment is created, and its key replayed', async () => {
    const first = await merchant.create('order-1')
    expect(first.status === 'pending', `the payment is ${first.status}`)
    expect((await merchant.create('order-1', 200)).id === first.id, 'the same key gave another payment')
    return first
  })
  const paid = await step('its customer pays, the provider calls back, it is credited', async () => {
    await call(v.unknown(), `${world.inbox}/behaviour`, {
      method: 'POST',
      body: JSON.stringify({ status: 500, times: 1 }),
    })
    return merchant.pay(created)
  })
  await step('its webhook meets a 500, which is written down', () =>
    eventually('an attempt', async () => {
      const { data } = await merchant.get(DeliveriesSchema, 'webhook_deliveries')
      return data.find(({ payment_id, attempts }) => payment_id === paid.id && attempts[0]?.http_status === 500)
    }),
  )
  await step('and is sent again, the same bytes, when its minute is over', async () => {
    advance(rehearsal, FIRST_WAIT_SECONDS)
    const [first, second] = await webhooks(merchant, paid, 2)
    expect(first?.body === second?.body, 'the second attempt carries other bytes')
    expect(first?.headers['webhook-id'] === second?.headers['webhook-id'], 'the second attempt has another id')
  })
  const cancelled = await step('a payment is cancelled, at the provider first', async () => {
    const { id } = await merchant.create('order-2')
    const payment = await merchant.post(PaymentSchema, `payments/${id}/cancel`)
    expect(payment.status === 'cancelled', `the payment is ${payment.status}`)
    return payment
  })
  const reversed = await step('a payment is paid, and its money goes back', async () => {
    const payment = await merchant.pay(await merchant.create('order-3'))
    const request = await requestOf(world.provider, payment)
    const reverse = `${world.provider}/_simulator/payment_requests/${request}/reverse`
    await call(v.unknown(), reverse, { method: 'POST', body: JSON.stringify({ kind: 'refund' }) })
    return payment
  })
  await step('a customer pays another amount: the payment fails, and the money is held in suspense', async () => {
    await merchant.pay(await merchant.create('order-8'), ANOTHER_AMOUNT_MINOR)
  })
  const unpaid = await step('a payment is created that is not paid', () => merchant.create('order-unpaid'))
  return { paid, reversed, cancelled, unpaid }
}

const webhooks = (merchant: Merchant, payment: Payment, count: number) =>
  eventually(`${count} webhooks`, async () => {
    const found = await merchant.webhooksOf(payment)
    return found.length >= count ? found : undefined
  })

/** Everybody's clock: first the provider's, so that what it has booked by then is there for who asks. */
export const advance = ({ world, clock }: Rehearsal, seconds: number): void => {
  world.advance(seconds)
  clock.advance(seconds)
}
