/**
 * Goal: callers and callbacks that all come at once leave one payment, one credit and one end. Method: the running local
 * gateway by HTTP alone. Faults of the provider, and processes that die: test/integration and test/simulation.
 */
import { describe, expect } from 'vitest'
import { worldIt as it, VA } from './gateway-world.ts'

describe('the local gateway under fire', () => {
  it('answers 200 concurrent creates of one key with the same payment and one provider call', async ({ world }) => {
    const { create } = await world.merchant([])
    const before = await world.createCalls()

    const answers = await Promise.all(Array.from({ length: 200 }, () => create(VA, 'one-key')))

    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1)
    expect(new Set(answers.map(({ body }) => body['payment_destination'])).size).toBe(1)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(199)
    expect((await world.createCalls()) - before).toBe(1)
  })

  it('credits once, writes one event and one delivery when 50 callbacks come at once beside due work', async ({
    world,
  }) => {
    const { create, payment, balance, clientId } = await world.merchant()
    const id = String((await create(VA)).body['id'])
    await world.fault('callback', 'lost')
    await world.pay(id)
    const [paid] = await world.upstream(id)
    const said = { payment_request_id: paid?.payment_request_id, reference_id: `${id}-1` }
    const data = { ...said, payment_id: paid?.['latest_payment_id'] }

    const answers = await Promise.all([
      ...Array.from({ length: 50 }, async () => (await world.callback('payment.capture', data)).status),
      world.invoke('check-due-work'),
    ])

    expect(answers.slice(0, 50)).toStrictEqual(Array.from({ length: 50 }, () => 200))
    expect(await payment(id)).toMatchObject({ status: 'succeeded' })
    expect(await balance()).toMatchObject({ pending_minor: 95_900 })
    await expect.poll(() => world.webhooksOf(id)).toHaveLength(1)
    const { body } = await world.admin('list-deliveries', { client_id: clientId })
    expect(body['data']).toHaveLength(1)
  })

  it('ends a cancel that races a capture in never both nor neither, and answers what is kept (100 races)', async ({
    world,
  }) => {
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
