/**
 * Goal: the provider's news arrives twice, late, forged or never, and the books are right all the same.
 * Method: the running local gateway by HTTP alone, with the provider simulator's faults and the one clock.
 */
import { describe, expect } from 'vitest'
import { QRIS, VA, type World, worldIt } from './gateway-world.ts'

/** Makes payments, each of a merchant of its own. */
const it = worldIt.extend('aPayment', ({ world }) => async (body: object = VA) => {
  const merchant = await world.merchant()
  const { body: created } = await merchant.create(body)
  const id = String(created['id'])
  const [request] = await world.upstream(id)
  const requestId = request?.payment_request_id ?? ''
  const said = { payment_request_id: requestId, reference_id: `${id}-1` }
  return { ...merchant, id, requestId, said, status: async () => (await merchant.payment(id))['status'] }
})

describe('callbacks', () => {
  it('credits once, writes one event and one delivery when 50 callbacks come at once beside due work', async ({
    world,
    aPayment,
  }) => {
    const { id, said, status, balance, clientId } = await aPayment()
    await world.fault('callback', 'lost')
    await world.pay(id)
    const [paid] = await world.upstream(id)
    const data = { ...said, payment_id: paid?.['latest_payment_id'] }

    const answers = await Promise.all([
      ...Array.from({ length: 50 }, async () => (await world.callback('payment.capture', data)).status),
      world.invoke('check-due-work'),
    ])

    expect(answers.slice(0, 50)).toStrictEqual(Array.from({ length: 50 }, () => 200))
    expect(await status()).toBe('succeeded')
    expect(await balance()).toMatchObject({ pending_minor: 95_900 })
    await expect.poll(() => world.webhooksOf(id)).toHaveLength(1)
    const { body } = await world.admin('list-deliveries', { client_id: clientId })
    expect(body['data']).toHaveLength(1)
  })

  it('refuses a wrong token, and changes nothing on a right one when the provider says unpaid', async ({
    world,
    aPayment,
  }) => {
    const { id, said, status } = await aPayment()
    const data = { ...said, payment_id: 'py-forged', status: 'SUCCEEDED' }

    const wrongToken = await world.callback('payment.capture', data, 'guessed')
    const forged = await world.callback('payment.capture', data)
    const atOnce = await world.fault('callback', 'forged', { payment_id: id })

    expect([wrongToken.status, wrongToken.body['code']]).toStrictEqual([401, 'auth'])
    expect([forged.status, atOnce.status, await status()]).toStrictEqual([200, 200, 'pending'])
  })

  it.for([
    ['duplicate', 5],
    ['delay', 30],
    ['legacy_names', undefined],
  ] as const)('credits once when callbacks are hit by %s', async ([fault, value], { world, aPayment }) => {
    const { id, status, balance } = await aPayment()
    await world.fault('callback', fault, value)

    await world.pay(id)
    await world.advance(60)

    await expect.poll(status).toBe('succeeded')
    expect(await balance()).toMatchObject({ pending_minor: 95_900 })
  })
})

it('callbacks switched off entirely finds success by the sync, failure and expiry by due work', async ({
  world,
  aPayment,
}) => {
  await world.fault('callback', 'lost', undefined, 100)
  const paid = await aPayment()
  const failed = await aPayment({ ...QRIS, method: 'ewallet', channel_code: 'DANA' })
  const expired = await aPayment({ ...QRIS, expires_in_seconds: 600 })
  await world.pay(paid.id)
  await world.control(`/payment_requests/${failed.requestId}/fail`)

  await world.advance(301)
  await world.invoke('sync-provider-transactions')
  const early = [await paid.status(), await failed.status(), await expired.status()]
  await world.advance(600)
  await world.invoke('check-due-work')

  expect(early).toStrictEqual(['succeeded', 'pending', 'pending'])
  await expect.poll(failed.status).toBe('failed')
  await expect.poll(expired.status).toBe('expired')
  // A wallet or QR takes no expiry of ours: it must not stay payable.
  expect(await world.upstream(expired.id)).toMatchObject([{ status: 'CANCELED' }])
  await world.send(`${world.urls.provider}/_simulator/faults`, { method: 'DELETE' })
  await expect.poll(() => world.webhooksOf(expired.id)).toHaveLength(1)
})

describe('money that may not be credited', () => {
  const heldFor = async ({ admin }: Pick<World, 'admin'>, id: string) => {
    const { body } = await admin('list-suspense', { per_page: 100 })
    return (body['data'] as { payment_id: string | null; cause: string; kind: string }[]).filter(
      ({ payment_id: paymentId }) => paymentId === id,
    )
  }

  it.for([
    ['a cancel', 'cancelled'],
    ['the expiry', 'expired'],
  ] as const)('is held with an alert when it comes after %s', async ([, end], { world, aPayment }) => {
    const { id, requestId, cancel, status, balance } = await aPayment()
    if (end === 'cancelled') await cancel(id)
    else await world.control(`/payment_requests/${requestId}/expire`)
    await expect.poll(status).toBe(end)
    await world.fault('payment', 'after_expiry')

    await world.pay(id)

    await expect.poll(() => heldFor(world, id)).toMatchObject([{ cause: 'payment_not_pending' }])
    await expect.poll(async () => (await world.alerts()).map(({ kind }) => kind)).toContain('suspense.money')
    expect([await status(), await balance()]).toMatchObject([end, { pending_minor: 0 }])
  })

  it('is held when the amount is wrong, and the payment fails with its webhook', async ({ world, aPayment }) => {
    const { id, status, balance } = await aPayment()
    await world.fault('payment', 'wrong_amount', 99_000)

    await world.pay(id)

    await expect.poll(status).toBe('failed')
    expect(await heldFor(world, id)).toMatchObject([{ cause: 'wrong_amount', kind: 'money' }])
    expect(await balance()).toMatchObject({ pending_minor: 0 })
    const failed = { headers: { 'x-gateway-event': 'payment.failed' } }
    await expect.poll(() => world.webhooksOf(id)).toMatchObject([failed])
  })
})

describe('a cancel that races a capture', () => {
  it('never ends in both or neither, and answers the state that is kept (100 races)', async ({ world }) => {
    const { create, cancel, payment, balance } = await world.merchant([])
    const kept: unknown[] = []
    const race = async (id: string) => {
      const [answer] = await Promise.all([cancel(id), world.pay(id)])
      const status = async () => (await payment(id))['status']
      await expect.poll(status).not.toBe('pending')
      const end = await status()
      kept.push(end)
      expect([answer.status, end]).toStrictEqual(answer.status === 200 ? [200, 'cancelled'] : [422, 'succeeded'])
    }
    for (let round = 0; round < 10; round++) {
      const created = await Promise.all(Array.from({ length: 10 }, () => create(VA)))
      await Promise.all(created.map(({ body }) => race(String(body['id']))))
    }
    const credited = kept.filter((status) => status === 'succeeded').length
    expect(await balance()).toMatchObject({ pending_minor: credited * 95_900 })
  })
})
