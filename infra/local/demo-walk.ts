import { createHmac } from 'node:crypto'
import * as v from 'valibot'
import { type Asked, localCaller } from './local-caller.ts'
import type { LocalCloud } from './local-cloud.ts'
import { eventually } from './process/eventually.ts'

const AMOUNT_MINOR = 150_000
const DAY_SECONDS = 86_400

/** Enough for the provider to settle over a weekend, which makes the fee final, and for the sweep's 24 hours. */
export const DAYS_TO_PAYOUT = 5

const Payment = v.object({
  id: v.string(),
  status: v.string(),
  payment_destination: v.string(),
  notional_minor: v.number(),
  xendit_fee_minor: v.number(),
  client_net_minor: v.number(),
  fee_status: v.string(),
  paid_at: v.optional(v.string()),
})
const Balance = v.object({
  pending_minor: v.number(),
  available_minor: v.number(),
  in_settlement_minor: v.number(),
  paid_out_minor: v.number(),
})
const Settlement = v.object({ id: v.string(), status: v.string(), net_minor: v.number(), payment_count: v.number() })
const Settlements = v.object({ data: v.array(Settlement) })

type Tell = (line: string) => void

/**
 * Takes one payment from its creation to the payout, by HTTP only, and prints each step. It acts as merchant, customer,
 * provider and operator. Throws a readable message at the first wrong result; every wait is bounded.
 */
export const demoWalk = async (cloud: Pick<LocalCloud, 'urls' | 'demoClient'>, tell: Tell): Promise<void> => {
  const demo = aDemo(cloud, tell)
  const paymentId = await walkToCredit(demo, cloud.demoClient.signing_secret)
  await walkToPayout(demo, paymentId)
}

type Demo = ReturnType<typeof aDemo>

const aDemo = ({ urls, demoClient }: Pick<LocalCloud, 'urls' | 'demoClient'>, tell: Tell) => {
  const caller = localCaller({ urls })
  const ask = async <const Schema extends v.GenericSchema>(schema: Schema, operation: string, asked: Asked = {}) => {
    const { status, body } = await caller.ask(operation, { key: demoClient.api_key, ...asked })
    expect(status < 300, `${operation} answered ${status}: ${JSON.stringify(body)}`)
    return v.parse(schema, body)
  }
  const tellBalance = async () => {
    const balance = await ask(Balance, 'api-get-balance', { query: 'include=settlements' })
    const { pending_minor, available_minor, in_settlement_minor, paid_out_minor } = balance
    tell(
      `   balance      pending IDR ${pending_minor}, available ${available_minor}, in settlement ${in_settlement_minor}, paid out ${paid_out_minor}`,
    )
    return balance
  }
  return { caller, ask, tell, tellBalance }
}

/** Creates a payment, pays it, and returns its id. */
const walkToCredit = async ({ caller, ask, tell, tellBalance }: Demo, secret: string): Promise<string> => {
  tell('\n1. The merchant creates a payment by BCA virtual account')
  const body = { method: 'virtual_account', channel_code: 'BCA', amount: AMOUNT_MINOR, currency: 'IDR' }
  const create = { idempotencyKey: 'demo-1', body }
  const created = await ask(Payment, 'api-create-payment', create)
  tell(`   payment      ${created.id}, ${created.status}`)
  tell(`   destination  ${created.payment_destination} (the account number the customer is shown)`)

  tell('\n2. The merchant retries the same request, as after a lost answer')
  const replayed = await ask(Payment, 'api-create-payment', create)
  expect(replayed.id === created.id, 'the repeated request gave another payment')
  tell(`   payment      ${replayed.id}: the same one, nothing was created twice`)

  tell('\n3. The customer pays at the bank; the provider tells us')
  await caller.pay(created.id)
  tell(`   paid         IDR ${AMOUNT_MINOR}`)

  tell('\n4. The webhook reaches the merchant')
  const webhook = await caller.webhook('payment.succeeded', created.id)
  const signature = createHmac('sha256', secret).update(webhook.body).digest('hex')
  expect(webhook.headers['x-gateway-signature'] === signature, 'the webhook is not signed with the endpoint’s secret')
  tell(`   event        ${String(webhook.headers['x-gateway-event'])}`)
  tell(`   signature    ${signature.slice(0, 16)}… verified: HMAC-SHA256 of the body with the endpoint's secret`)

  tell('\n5. The payment and the balance')
  const paid = await ask(Payment, 'api-get-payment', { id: created.id })
  expect(paid.status === 'succeeded', `the payment is ${paid.status}`)
  tell(`   payment      ${paid.status} at ${paid.paid_at ?? '?'}, net IDR ${netOf(paid)} of ${paid.notional_minor}`)
  const credited = await tellBalance()
  expect(credited.pending_minor === paid.client_net_minor, 'the balance is not the net of the one payment')
  return created.id
}

const walkToPayout = async ({ caller, ask, tell, tellBalance }: Demo, id: string): Promise<void> => {
  tell(`\n6. ${DAYS_TO_PAYOUT} days later the provider has settled the money to us: its fee is final`)
  await caller.advance(DAYS_TO_PAYOUT * DAY_SECONDS)
  await caller.invoke('sync-provider-transactions', {})
  const final = await ask(Payment, 'api-get-payment', { id })
  expect(final.fee_status === 'actual', `the fee is ${final.fee_status}`)
  tell(`   payment      fee IDR ${final.xendit_fee_minor}, net IDR ${netOf(final)}`)

  tell('\n7. The daily sweep records a settlement, and an operator pays it out')
  await caller.invoke('sweep-settlements', {})
  const recorded = async () => (await ask(Settlements, 'api-list-settlements')).data[0]
  const settlement = await eventually('no settlement', recorded)
  expect(settlement.net_minor === final.client_net_minor, 'the settlement is not the net of the one payment')
  tell(`   settlement   ${settlement.id}, ${settlement.status}: IDR ${settlement.net_minor}`)
  await tellBalance()
  const closed = v.parse(Settlement, await caller.payOut(settlement.id, 'DEMO-1'))
  tell(`   settlement   ${closed.status}`)
  const { paid_out_minor } = await tellBalance()
  expect(paid_out_minor === final.client_net_minor, 'what was paid out is not the net of the one payment')
}

const netOf = ({ client_net_minor, fee_status }: v.InferOutput<typeof Payment>) =>
  `${client_net_minor} (fee ${fee_status})`

const expect = (holds: boolean, otherwise: string): void => {
  if (!holds) throw new Error(otherwise)
}
