import * as v from 'valibot'
import { DeliveriesSchema, type Merchant, PaymentSchema, requestOf } from '../merchant.ts'
import { call, expect, OPERATOR, type Rehearsal } from '../rehearsal.ts'

export type TakenPayments = Awaited<ReturnType<typeof takePayments>>

export async function takePayments(rehearsal: Rehearsal, merchant: Merchant) {
  const { step, world, eventually } = rehearsal
  const created = await step('a payment is created, and its key replayed', async () => {
    const first = await merchant.create('order-1')
    expect(first.status === 'pending', `the payment is ${first.status}`)
    expect(
      (await merchant.create('order-1', 200)).id === first.id,
      'the same key gave another payment',
    )
    return first
  })
  const paid = await step(
    'its customer pays, the provider calls back, it is credited',
    async () => {
      const fails = { method: 'POST', body: JSON.stringify({ status: 500, times: 1 }) }
      await call(v.unknown(), `${world.inbox}/behaviour`, fails)
      return merchant.pay(created)
    },
  )
  await step('its webhook meets a 500, which is written down', () =>
    eventually('an attempt', async () => {
      const { data } = await merchant.get(DeliveriesSchema, 'webhook_deliveries')
      return data.find(
        ({ payment_id, attempts }) => payment_id === paid.id && attempts[0]?.http_status === 500,
      )
    }),
  )
  await step('and is sent again, the same bytes, when its minute is over', async () => {
    advance(rehearsal, 60)
    const [first, second] = await eventually('2 webhooks', async () => {
      const found = await merchant.webhooksOf(paid)
      return found.length >= 2 ? found : undefined
    })
    expect(first?.body === second?.body, 'the second attempt carries other bytes')
    expect(
      first?.headers['webhook-id'] === second?.headers['webhook-id'],
      'the second attempt has another id',
    )
  })
  const cancelled = await step('a payment is cancelled, at the provider first', async () => {
    const { id } = await merchant.create('order-2')
    const payment = await merchant.post(PaymentSchema, `payments/${id}/cancel`)
    expect(payment.status === 'cancelled', `the payment is ${payment.status}`)
    return payment
  })
  await step('a payment is paid, and its money goes back', async () => {
    const payment = await merchant.pay(await merchant.create('order-3'))
    const request = await requestOf(world.provider, payment)
    const reverse = `${world.provider}/_simulator/payment_requests/${request}/reverse`
    await call(v.unknown(), reverse, { method: 'POST', body: JSON.stringify({ kind: 'refund' }) })
  })
  await step(
    'a customer pays another amount: the payment fails, and the money is held in suspense',
    async () => {
      await merchant.pay(await merchant.create('order-8'), 140_000)
    },
  )
  const unpaid = await step('a payment is created that is not paid', () =>
    merchant.create('order-unpaid'),
  )
  return { paid, cancelled, unpaid }
}

/**
 * Moves the provider's clock first, so that functions find the provider's bookings up to the new
 * time.
 */
export function advance({ world, clock }: Rehearsal, seconds: number) {
  world.advance(seconds)
  clock.advance(seconds)
}

const SYNC_RUNS = 20

/** A run that meets a jump of the clock may break off: the next run continues. */
export async function syncCompletely({ admin }: Rehearsal) {
  // A run that broke off prints nothing.
  const schema = v.optional(v.object({ complete: v.boolean() }))
  for (let run = 0; run < SYNC_RUNS; run++) {
    if (v.parse(schema, await admin('sync-provider-transactions', {}, [0, 1]))?.complete) return
  }
  throw new Error(`the sync is not complete after ${SYNC_RUNS} runs`)
}

/** Longer than the provider's settlement with any weekend, and the 24 hours of the sweep. */
const DAYS_TO_PAYOUT = 5

/** Days later fees and reversals are final. */
export async function payOut(rehearsal: Rehearsal, merchant: Merchant, { unpaid }: TakenPayments) {
  const { step, admin } = rehearsal
  const operator = { operator: OPERATOR }
  const days = async () => {
    advance(rehearsal, DAYS_TO_PAYOUT * 86_400)
    await syncCompletely(rehearsal)
  }
  const settlement = await step(
    `${DAYS_TO_PAYOUT} days later, by sync and sweep, there is a settlement`,
    async () => {
      await days()
      await admin('sweep-settlements')
      return recorded(rehearsal, merchant, [])
    },
  )
  await step('the unpaid payment has expired by due work', async () => {
    await admin('check-due-work')
    await merchant.hasStatus(unpaid, 'expired')
  })
  await step('an operator pays it out', async () => {
    await admin('list-settlements', { status: 'recorded' })
    await admin('get-settlement-statement', { settlement_id: settlement.id })
    await payOutNow(rehearsal, settlement, 'transfer 1')
  })
  const failed = await step('another one, triggered by hand, is refused by the bank', async () => {
    await merchant.pay(await merchant.create('order-4'))
    await days()
    // Refused if the sweep was first, because the jump of the clock also starts the sweep.
    await admin('trigger-settlement', { ...operator, client_id: merchant.clientId }, [0, 1])
    const found = await recorded(rehearsal, merchant, [settlement])
    await admin('mark-settlement-failed', {
      ...operator,
      settlement_id: found.id,
      notes: 'refused',
    })
    return found
  })
  await step('recredited, it is recorded again by the next sweep, and paid out', async () => {
    await admin('recredit-settlement', {
      ...operator,
      settlement_id: failed.id,
      notes: 'account corrected',
    })
    await admin('sweep-settlements')
    const found = await recorded(rehearsal, merchant, [settlement, failed])
    expect(found.net_minor === failed.net_minor, `${found.net_minor} is not ${failed.net_minor}`)
    await payOutNow(rehearsal, found, 'transfer 2')
  })
  return settlement
}

const PayoutFileSchema = v.object({ files: v.array(v.object({ text: v.string() })) })
const SettlementSchema = v.object({ id: v.string(), status: v.string(), net_minor: v.number() })
export type Settlement = v.InferOutput<typeof SettlementSchema>

function recorded({ eventually }: Rehearsal, merchant: Merchant, before: readonly Settlement[]) {
  return eventually('a settlement', async () => {
    const { data } = await merchant.get(
      v.object({ data: v.array(SettlementSchema) }),
      'settlements',
    )
    return data.find(({ id }) => before.every((seen) => seen.id !== id))
  })
}

async function payOutNow(rehearsal: Rehearsal, { id }: Settlement, reference: string) {
  const { admin, eventually } = rehearsal
  advance(rehearsal, 120)
  await admin('check-due-work')
  // The audits that the jump of the clock started may still run.
  await eventually("the settlement in the bank's file", async () => {
    const answer = await admin('payout-file', { operator: OPERATOR, format: 'csv' })
    const files = v.is(PayoutFileSchema, answer) ? answer.files : []
    return files.find(({ text }) => text.includes(id))
  })
  const order = { operator: OPERATOR, settlement_id: id, bank_reference: reference }
  const paid = v.parse(SettlementSchema, await admin('mark-settlement-paid', order))
  expect(paid.status === 'manual_paid', `the settlement is ${paid.status}`)
}
