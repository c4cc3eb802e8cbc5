import * as v from 'valibot'
import { describe, expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { PaymentIdSchema, paymentIdForKey } from '../../../shared/ids.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { paymentKey, referenceKey } from '../../../shared/table/keys.ts'
import { put } from '../../../shared/table/step.ts'
import { bookRefund } from '../../support/money-rows.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import {
  aCreating,
  aPendingPayment,
  aRequest,
  aStoredClient,
  create,
  loseAnswer,
  payFirst,
  succeededKey,
} from '../../support/payment-builders.ts'
import { wholeRow } from '../../support/recount/books.ts'
import { creditedPayment, notifyOf, paymentOf } from '../../support/synced-payment.ts'
import { changeRow } from '../../support/tampering.ts'
import {
  beforeCommit,
  beforeFirst,
  interceptTable,
  memoryDeps,
  type TestDeps,
} from '../../support/test-deps.ts'
import { drainQueue } from '../../support/webhook-builders.ts'
import {
  aPaidCustomer,
  CUSTOMER,
  erasedAnswer,
  FIELDS,
  erasureTest as it,
} from './paid-customer.ts'

/**
 * Goal: an operator can erase a customer's personal data despite crashes and races, and nothing
 * else changes (design 11).
 */

describe('erase-customer', () => {
  it('removes the customer from the payment and its event, and changes no other byte', async ({
    deps,
    client,
    payment,
    erase,
    storedPayment,
    bodies,
    records,
  }) => {
    const [before = ''] = await bodies()

    expect(await erase()).toMatchObject(erasedAnswer(payment, 1))

    const member = `,"customer":${JSON.stringify(CUSTOMER)}`
    expect(before).toContain(member)
    expect(await bodies()).toStrictEqual([before.replace(member, '')])
    expect(await storedPayment()).toEqual({ ...payment, customer: undefined, erasedAt: deps.now() })
    expect(await erase()).toMatchObject(erasedAnswer(payment, 0, []))
    expect(await records()).toEqual([{ operator: 'ayu', action: 'erase-customer' }])
    expect(JSON.stringify([deps.stored.items('').map(wholeRow), deps.lines])).not.toMatch(
      /Dewi|sari@shop|6281234567890/,
    )
    expect((await auditLedger(deps, client.clientId)).differences).toStrictEqual([])
  })

  it('fails at an unreadable event, which may name the customer, and erases the others of a reference', async ({
    deps,
    client,
    payment,
    erase,
    storedPayment,
  }) => {
    const { payment: other } = await creditedPayment(deps, client, FIELDS)
    const key = succeededKey(payment)
    await changeRow(deps, key, { set: { body: 'unreadable' } })

    expect(await erase()).toMatchObject({ status: 500 })

    expect(deps.lines.at(-1)).toMatchObject({ level: 'error', code: 'operator.refused' })
    expect(await storedPayment()).toStrictEqual(payment)
    const query = { client_id: client.clientId, external_reference: 'order-17' }
    const reason = 'an event of the payment cannot be read'
    expect(Object((await erase(query)).body)).toMatchObject({
      erased: [{ payment_id: other.paymentId }],
      left: [{ payment_id: payment.paymentId, reason }],
    })
  })

  it('removes the customer from all payments of a reference, a hundred in each call and for forty seconds', async ({
    deps,
    client,
    erase,
    storedPayment,
  }) => {
    for (let at = 0; at < 1_100; at++) {
      const paymentId = v.parse(PaymentIdSchema, `00000000-0000-8000-8000-00000000${1_000 + at}`)
      await deps.table.write(
        put(referenceKey(client.clientId, 'order-17', deps.now(), paymentId), { paymentId }),
      )
    }
    const other = await creditedPayment(deps, client, { ...FIELDS, externalReference: 'order-18' })
    const makePayments = async (count: number) => {
      for (let made = 0; made < count; made++) {
        deps.clock.advance(1)
        const pending = await aPendingPayment(deps, client, FIELDS)
        await closePayment(deps, pending, { status: 'cancelled', source: 'cancel' })
      }
    }
    const eraseAll = async (ownDeps?: TestDeps) => {
      const query = { client_id: client.clientId, external_reference: 'order-17' }
      const { erased, left, complete } = Object((await erase(query, ownDeps)).body)
      return [erased.length, left, complete]
    }
    const slowOn = (kind: string) =>
      interceptTable(deps, { before: ({ name }) => name === kind && deps.clock.advance(15) })

    await makePayments(150)
    expect(await eraseAll(slowOn('transact'))).toStrictEqual([3, [], false])
    expect(await eraseAll()).toStrictEqual([100, [], false])
    const beganMs = deps.monotonicMs()
    expect(await eraseAll(slowOn('query'))).toStrictEqual([0, [], false])
    expect(deps.monotonicMs() - beganMs).toBe(45_000)
    const { paymentId: payment_id } = await aPendingPayment(deps, client, FIELDS)
    const reason = 'the payment is pending: its customer cannot be erased yet'
    expect(await eraseAll()).toStrictEqual([48, [{ payment_id, reason }], false])
    expect(await storedPayment()).not.toHaveProperty('customer')
    expect(await paymentOf(deps, other)).toHaveProperty('customer')
  })

  const WRONG = [
    {},
    { payment_id: 'x', client_id: 'y' },
    { client_id: 'y' },
    { payment_id: 'x', external_reference: 'r' },
  ]
  it.each(WRONG)(
    'refuses %j, because it needs a payment, or a merchant and a reference',
    async (payload) => {
      expect(await (await aPaidCustomer()).erase(payload)).toMatchObject({ status: 422 })
    },
  )

  it('answers 404 for a reference that no payment of the merchant has', async ({
    client,
    erase,
  }) => {
    const query = { client_id: client.clientId, external_reference: 'order-71' }
    expect(await erase(query)).toMatchObject({ status: 404 })
  })

  it('is refused while the payment is pending or a delivery is in progress', async () => {
    const { deps, client, payment, erase, storedPayment } = await aPaidCustomer(1)
    const pending = await aPendingPayment(deps, client, FIELDS)

    expect(await erase()).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('under way') },
    })
    const erasePending = () => erase({ payment_id: pending.paymentId })
    expect(await erasePending()).toMatchObject({ status: 422 })
    expect(await storedPayment()).toStrictEqual(payment)
    await drainQueue(deps)
    expect(await erase()).toMatchObject(erasedAnswer(payment, 1))
    await closePayment(deps, pending, { status: 'cancelled', source: 'cancel' })
    expect(await erasePending()).toMatchObject(erasedAnswer(pending, 0))
  })

  it.each(['before', 'after'])(
    'a repeat completes an erasure that crashed %s any table request',
    async (side) => {
      for (let diesAt = 1; ; diesAt++) {
        const { deps, client, payment, erase, bodies, storedPayment, records } =
          await aPaidCustomer()
        const payload = {
          client_id: client.clientId,
          external_reference: payment.externalReference,
        }
        let requestsLeft = diesAt
        const die = () => {
          if (--requestsLeft <= 0) throw new Error('the process has died')
        }
        const moving = beforeCommit(deps, () => bookRefund(deps, payment, 10_000))
        const dying = interceptTable(moving, { [side]: die })
        const first = await erase(undefined, dying)

        expect((await erase(payload)).status).toBe(200)
        expect((await bodies()).join('')).not.toContain('sari@shop')
        expect(await storedPayment()).not.toHaveProperty('customer')
        expect(await records()).toHaveLength(1)
        if (requestsLeft > 0) break
        expect(first.status).not.toBe(200)
      }
    },
  )

  it('removes the customer from the request of a failed create, but not during this or the next attempt; and again after a new request', async () => {
    const deps = memoryDeps()
    const request = aRequest({ customer: CUSTOMER })
    const attempt = { number: 2, startedAt: deps.now(), outcome: 'refused' } as const
    const refused = { request, mayExistUpstream: false, providerAttempts: [attempt] }
    const { client, creating } = await aCreating(refused, deps)
    const refusal = { status: 422, body: { message: expect.stringContaining('being created') } }
    expect(await eraseOf(deps, creating.paymentId)).toMatchObject(refusal)
    deps.clock.advance(60)
    expect(await eraseOf(deps, creating.paymentId)).toMatchObject({
      status: 200,
      body: { erased: [{ fields: ['name', 'email', 'phone'] }] },
    })
    expect(JSON.stringify(deps.stored.items(''))).not.toContain('sari@shop')
    const { payment } = await create(deps, client, request, 'key-1')
    await closePayment(deps, payment, { status: 'cancelled', source: 'cancel' })
    expect(await eraseOf(deps, creating.paymentId)).toMatchObject({ status: 200 })
    const next = await aCreating({ request, leaseUntil: undefined }, deps)
    const overtaken = beforeCommit(deps, () => create(deps, next.client, aRequest(), 'key-1'))
    expect(await eraseOf(overtaken, next.creating.paymentId)).toMatchObject({ status: 409 })
  })

  it('is refused if a dispute is told after it read the payment', async ({
    deps,
    payment,
    erase,
    storedPayment,
  }) => {
    const dispute = { caseId: 'case-1', state: 'action_required' }
    const key = paymentKey(payment.paymentId)
    const told = beforeCommit(deps, () => changeRow(deps, key, { set: { dispute } }))

    expect(await erase(undefined, told)).toMatchObject({ status: 409 })
    expect(await storedPayment()).toStrictEqual({ ...payment, dispute })
  })

  it('is not undone by a retry that read the request before it', async () => {
    const { deps, client, payment_id, eraseNow, texts } = await aLostCreate()
    const overtaken = beforeFirst(deps, 'update', eraseNow)

    await create(overtaken, client, aRequest(), 'key-1').catch(() => undefined)
    const { payment } = await create(deps, client, aRequest(), 'key-1')

    expect(payment).toMatchObject({ paymentId: payment_id, erasedAt: deps.now() })
    expect(texts()).not.toContain('sari@shop')
  })

  it('is not undone by a capture whose payment was read before it', async () => {
    const { deps, payment_id, eraseNow, texts } = await aLostCreate()
    const { providerPaymentId } = payFirst(deps)
    const overtaken = beforeCommit(deps, eraseNow)

    await notifyOf(overtaken, providerPaymentId)

    const payment = await findStoredPayment(deps, payment_id)
    expect(payment).toMatchObject({ status: 'succeeded', erasedAt: deps.now() })
    expect(texts()).not.toContain('sari@shop')
  })
})

function eraseOf(deps: TestDeps, payment_id: string) {
  return invokeAdmin('erase-customer', deps, { operator: 'ayu', payment_id })
}

/** The provider has the request of the create, whose answer was lost. */
async function aLostCreate() {
  const deps = memoryDeps()
  const client = await aStoredClient(deps)
  await loseAnswer(deps, client, { customer: CUSTOMER })
  deps.clock.advance(60)
  const payment_id = paymentIdForKey(client.clientId, 'key-1')
  const eraseNow = async () => expect((await eraseOf(deps, payment_id)).status).toBe(200)
  const texts = () => JSON.stringify(deps.stored.items('').map(wholeRow))
  return { deps, client, payment_id, eraseNow, texts }
}
