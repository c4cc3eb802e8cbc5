import { createHmac } from 'node:crypto'
import * as v from 'valibot'
import { BalanceDtoSchema } from '../../shared/ledger/balance-dto-schema.ts'
import { type PaymentDto, PaymentDtoSchema } from '../../shared/payment/payment-dto-schema.ts'
import { SettlementDtoSchema } from '../../shared/settlement/settlement-dto-schema.ts'
import { type CallInput, localCaller } from './local-caller.ts'
import type { LocalCloud } from './local-cloud.ts'
import { eventually } from './process/eventually.ts'

const AMOUNT_MINOR = 150_000
const DAY_SECONDS = 86_400

/**
 * Long enough for a settlement by the provider over a weekend, and for the 24 hours before the
 * sweep.
 */
export const DAYS_TO_PAYOUT = 5

const Balance = v.required(BalanceDtoSchema, ['in_settlement_minor', 'paid_out_minor'])
const Settlements = v.object({ data: v.array(SettlementDtoSchema) })

type Print = (line: string) => void

/**
 * Takes one payment from its creation to the payout, by HTTP only, as merchant, customer, provider
 * and operator, and prints each step. Throws at the first wrong result, with a message for a
 * person. Every wait is bounded.
 */
export async function demoWalk(cloud: Pick<LocalCloud, 'urls' | 'demoClient'>, print: Print) {
  const demo = aDemo(cloud, print)
  const paymentId = await walkToCredit(demo, cloud.demoClient.signing_secret)
  await walkToPayout(demo, paymentId)
  await walkToApproval(demo)
}

function aDemo({ urls, demoClient }: Pick<LocalCloud, 'urls' | 'demoClient'>, print: Print) {
  const caller = localCaller({ urls })
  const call = async <const Schema extends v.GenericSchema>(
    schema: Schema,
    name: string,
    input: CallInput = {},
  ) => {
    const { status, body } = await caller.call(name, { key: demoClient.api_key, ...input })
    expect(status < 300, `${name} answered ${status}: ${JSON.stringify(body)}`)
    return v.parse(schema, body)
  }
  const printBalance = async () => {
    const balance = await call(Balance, 'api-get-balance', { query: 'include=settlements' })
    const { pending_minor, available_minor, in_settlement_minor, paid_out_minor } = balance
    print(
      `   balance      pending IDR ${pending_minor}, available ${available_minor}, in settlement ${in_settlement_minor}, paid out ${paid_out_minor}`,
    )
    return balance
  }
  return { caller, call, demoClient, print, printBalance }
}

function expect(condition: boolean, message: string) {
  if (!condition) throw new Error(message)
}

type Demo = ReturnType<typeof aDemo>

async function walkToCredit({ caller, call, print, printBalance }: Demo, secret: string) {
  print('\n1. The merchant creates a payment by BCA virtual account')
  const body = {
    method: 'virtual_account',
    channel_code: 'BCA',
    amount: AMOUNT_MINOR,
    currency: 'IDR',
  }
  const create = { idempotencyKey: 'demo-1', body }
  const payment = await call(PaymentDtoSchema, 'api-create-payment', create)
  print(`   payment      ${payment.id}, ${payment.status}`)
  print(
    `   destination  ${payment.payment_destination} (the account number that the customer sees)`,
  )

  print('\n2. The merchant retries the same request, as after a lost answer')
  const samePayment = await call(PaymentDtoSchema, 'api-create-payment', create)
  expect(samePayment.id === payment.id, 'the repeated request created another payment')
  print(`   payment      ${samePayment.id}: the same one, not a second one`)

  print('\n3. The customer pays at the bank, and the provider sends a callback')
  await caller.pay(payment.id)
  print(`   paid         IDR ${AMOUNT_MINOR}`)

  print('\n4. The webhook reaches the merchant')
  const webhook = await caller.webhook('payment.succeeded', payment.id)
  const signature = createHmac('sha256', secret).update(webhook.body).digest('hex')
  expect(
    webhook.headers['x-gateway-signature'] === signature,
    'the webhook is not signed with the endpoint’s secret',
  )
  print(`   event        ${String(webhook.headers['x-gateway-event'])}`)
  print(
    `   signature    ${signature.slice(0, 16)}… verified: HMAC-SHA256 of the body with the endpoint's secret`,
  )

  print('\n5. The payment and the balance')
  const paidPayment = await call(PaymentDtoSchema, 'api-get-payment', { id: payment.id })
  expect(paidPayment.status === 'succeeded', `the payment is ${paidPayment.status}`)
  print(
    `   payment      ${paidPayment.status} at ${paidPayment.paid_at ?? '?'}, net IDR ${netOf(paidPayment)} of ${paidPayment.notional_minor}`,
  )
  const balance = await printBalance()
  expect(
    balance.pending_minor === paidPayment.client_net_minor,
    'the balance is not the net of the one payment',
  )
  return payment.id
}

function netOf({ client_net_minor, fee_status }: PaymentDto) {
  return `${client_net_minor} (fee ${fee_status})`
}

async function walkToPayout({ caller, call, print, printBalance }: Demo, id: string) {
  print(
    `\n6. ${DAYS_TO_PAYOUT} days later, the provider has settled the payment, and its fee is final`,
  )
  await caller.advance(DAYS_TO_PAYOUT * DAY_SECONDS)
  await caller.invoke('sync-provider-transactions', {})
  const finalPayment = await call(PaymentDtoSchema, 'api-get-payment', { id })
  expect(finalPayment.fee_status === 'actual', `the fee is ${finalPayment.fee_status}`)
  print(`   payment      fee IDR ${finalPayment.xendit_fee_minor}, net IDR ${netOf(finalPayment)}`)

  print('\n7. The daily sweep records a settlement, and an operator pays it out')
  await caller.invoke('sweep-settlements', {})
  const findSettlement = async () => (await call(Settlements, 'api-list-settlements')).data[0]
  const settlement = await eventually('no settlement', findSettlement)
  expect(
    settlement.net_minor === finalPayment.client_net_minor,
    'the settlement is not the net of the one payment',
  )
  print(`   settlement   ${settlement.id}, ${settlement.status}: IDR ${settlement.net_minor}`)
  await printBalance()
  const paidSettlement = v.parse(SettlementDtoSchema, await caller.payOut(settlement.id, 'DEMO-1'))
  print(`   settlement   ${paidSettlement.status}`)
  const { paid_out_minor } = await printBalance()
  expect(
    paid_out_minor === finalPayment.client_net_minor,
    'the amount paid out is not the net of the one payment',
  )
}

const Refusal = v.object({ status: v.literal(422), body: v.object({ message: v.string() }) })

async function walkToApproval({ caller, demoClient, print, printBalance }: Demo) {
  print(
    '\n8. An operator corrects the balance upwards, which needs the approval of a second person',
  )
  const payload = {
    client_id: demoClient.client_id,
    kind: 'correction',
    amount_minor: 5_000,
    reference: 'DEMO-2',
  }
  const alone = await caller.invoke('adjust-ledger', {
    operator: 'ana@gateway.example',
    ...payload,
  })
  print(`   alone        422: ${v.parse(Refusal, alone).body.message}`)
  const approval = { operator: 'budi@gateway.example', action: 'adjust-ledger', payload }
  await caller.act('approve', approval)
  await caller.act('adjust-ledger', payload)
  print('   together     approved by budi@gateway.example, written once')
  const { pending_minor } = await printBalance()
  expect(pending_minor === payload.amount_minor, 'the correction is not in the balance')
}
