/**
 * Goal: the provider's news arrives twice, late, forged or never, and the books are right all the same.
 * Method: the running local gateway by HTTP alone, with the provider simulator's faults and the one clock.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QRIS, startWorld, VA, type World } from '../support/gateway-world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const aPayment = async (body: object = VA) => {
  const merchant = await world.merchant()
  const { body: created } = await merchant.create(body)
  const id = String(created['id'])
  const [request] = await world.upstream(id)
  return {
    ...merchant,
    id,
    requestId: request?.payment_request_id ?? '',
    status: async () => (await merchant.payment(id))['status'],
  }
}

describe('callbacks', () => {
  it('credits once, writes one event and one delivery when 50 callbacks come at once beside due work', async () => {
    const { id, requestId, status, balance, clientId } = await aPayment()
    await world.fault('callback', 'lost')
    await world.pay(id)
    const [paid] = await world.upstream(id)
    const data = { payment_id: paid?.['latest_payment_id'], payment_request_id: requestId, reference_id: `${id}-1` }

    const answers = await Promise.all([
      ...Array.from({ length: 50 }, () => world.callback('payment.capture', data)),
      world.invoke('check-due-work'),
    ])

    expect(answers.slice(0, 50).map((answer) => answer['status'])).toStrictEqual(Array.from({ length: 50 }, () => 200))
    expect(await status()).toBe('succeeded')
    expect(await balance()).toMatchObject({ pending_minor: 95_900 })
    await expect.poll(async () => (await world.webhooksOf(id)).length).toBe(1)
    const { body } = await world.admin('list-deliveries', { client_id: clientId })
    expect(body['data']).toHaveLength(1)
  })

  it('refuses a wrong token, and changes nothing on a right one when the provider says unpaid', async () => {
    const { id, requestId, status } = await aPayment()
    const data = {
      payment_id: 'py-forged',
      payment_request_id: requestId,
      reference_id: `${id}-1`,
      status: 'SUCCEEDED',
    }

    const wrongToken = await world.callback('payment.capture', data, 'guessed')
    const forged = await world.callback('payment.capture', data)
    const atOnce = await world.fault('callback', 'forged', { payment_id: id })

    expect([wrongToken.status, wrongToken.body['code']]).toStrictEqual([401, 'auth'])
    expect([forged.status, atOnce.status]).toStrictEqual([200, 200])
    expect(await status()).toBe('pending')
  })

  it.each([
    ['duplicate', 5],
    ['delay', 30],
    ['legacy_names', undefined],
  ] as const)('credits once when callbacks are hit by %s', async (fault, value) => {
    const { id, status, balance } = await aPayment()
    await world.fault('callback', fault, value)

    await world.pay(id)
    await world.advance(60)

    await expect.poll(status).toBe('succeeded')
    expect(await balance()).toMatchObject({ pending_minor: 95_900 })
  })
})

describe('callbacks switched off entirely', () => {
  it('finds success, failure and expiry by due work', async () => {
    await world.fault('callback', 'lost', undefined, 100)
    const [paid, failed, expired] = [
      await aPayment(),
      await aPayment(),
      await aPayment({ ...QRIS, expires_in_seconds: 600 }),
    ]
    await world.pay(paid.id)
    await world.control(`/payment_requests/${failed.requestId}/fail`)

    await world.advance(301)
    await world.invoke('check-due-work')
    const early = [await paid.status(), await failed.status(), await expired.status()]
    await world.advance(300)
    await world.invoke('check-due-work')

    expect(early).toStrictEqual(['succeeded', 'failed', 'pending'])
    expect(await expired.status()).toBe('expired')
    // A wallet or QR takes no expiry of ours: it must not stay payable.
    expect((await world.upstream(expired.id)).map(({ status }) => status)).toStrictEqual(['CANCELED'])
    await fetch(`${world.urls.provider}/_simulator/faults`, { method: 'DELETE' })
    await expect.poll(async () => (await world.webhooksOf(expired.id)).length).toBe(1)
  })
})

describe('money that may not be credited', () => {
  const heldFor = async (id: string) => {
    const { body } = await world.admin('list-suspense', { per_page: 100 })
    return (body['data'] as { payment_id: string | null; cause: string; kind: string }[]).filter(
      ({ payment_id: paymentId }) => paymentId === id,
    )
  }

  it('is held with an alert when it comes after a cancel', async () => {
    const { id, cancel, status, balance } = await aPayment()
    await cancel(id)
    await world.fault('payment', 'after_expiry')

    await world.pay(id)

    await expect.poll(async () => (await heldFor(id)).map(({ cause }) => cause)).toStrictEqual(['payment_not_pending'])
    await expect.poll(async () => (await world.alerts()).some(({ kind }) => kind === 'suspense.money')).toBe(true)
    expect([await status(), await balance()]).toMatchObject(['cancelled', { pending_minor: 0 }])
  })

  it('is held when it comes after the expiry', async () => {
    const { id, requestId, status, balance } = await aPayment()
    await world.control(`/payment_requests/${requestId}/expire`)
    await expect.poll(status).toBe('expired')
    await world.fault('payment', 'after_expiry')

    await world.pay(id)

    await expect.poll(async () => (await heldFor(id)).length).toBe(1)
    expect([await status(), await balance()]).toMatchObject(['expired', { pending_minor: 0 }])
  })

  it('is held when the amount is wrong, and the payment fails with its webhook', async () => {
    const { id, status, balance } = await aPayment()
    await world.fault('payment', 'wrong_amount', 99_000)

    await world.pay(id)

    await expect.poll(status).toBe('failed')
    expect(await heldFor(id)).toMatchObject([{ cause: 'wrong_amount', kind: 'money' }])
    expect(await balance()).toMatchObject({ pending_minor: 0 })
    await expect
      .poll(async () => (await world.webhooksOf(id)).map(({ headers }) => headers['x-gateway-event']))
      .toStrictEqual(['payment.failed'])
  })
})

describe('a cancel that races a capture', () => {
  it('never ends in both or neither, and answers the state that is kept (100 races)', async () => {
    const merchant = await world.merchant([])
    let credited = 0
    for (let round = 0; round < 10; round++) {
      const created = await Promise.all(Array.from({ length: 10 }, () => merchant.create(VA)))
      const races = created.map(async ({ body }) => {
        const id = String(body['id'])
        const [answer] = await Promise.all([merchant.cancel(id), world.pay(id)])
        const open = ['pending']
        await expect.poll(async () => open.includes(String((await merchant.payment(id))['status']))).toBe(false)
        return { answer, kept: String((await merchant.payment(id))['status']) }
      })
      for (const { answer, kept } of await Promise.all(races)) {
        if (kept === 'succeeded') credited++
        expect([answer.status, kept]).toStrictEqual(answer.status === 200 ? [200, 'cancelled'] : [422, 'succeeded'])
      }
    }
    expect(await merchant.balance()).toMatchObject({ pending_minor: credited * 95_900 })
  })
})
