/**
 * Goal: payments that nobody pays cost the provider little, and one client's many of them cost another client nothing
 * (design sections 4 and 9).
 * Method: the running local gateway by HTTP alone, with the one clock.
 */
import { expect } from 'vitest'
import { worldIt as it, VA, type World } from './gateway-world.ts'

const A_DAY_S = 86_401

const callsAfterCreate = async ({ send, urls }: World): Promise<number> => {
  const { body } = await send(`${urls.provider}/_simulator/calls`)
  return Object.entries(body)
    .filter(
      ([call]) => !call.startsWith('rows ') && call !== 'POST /v3/payment_requests' && !call.includes('/transactions'),
    )
    .reduce((sum, [, times]) => sum + Number(times), 0)
}

it('40 virtual accounts nobody pays cost at most 3 calls each, to their webhook', { timeout: 120_000 }, async ({
  world,
}) => {
  const { create, payment } = await world.merchant()
  const made = await Promise.all(Array.from({ length: 40 }, () => create(VA)))
  const ids = made.map(({ body }) => String(body['id']))
  const before = await callsAfterCreate(world)

  for (const seconds of [600, 3_600, A_DAY_S]) {
    await world.advance(seconds)
    await world.invoke('check-due-work')
  }

  const webhooks = async () => (await Promise.all(ids.map((id) => world.webhooksOf(id)))).map(({ length }) => length)
  await expect.poll(webhooks, { timeout: 60_000 }).toStrictEqual(ids.map(() => 1))
  expect((await payment(ids[0] ?? ''))['status']).toBe('expired')
  expect((await callsAfterCreate(world)) - before).toBeLessThanOrEqual(3 * 40)
})

it('2,000 unpaid accounts of one client delay another client’s due payment by one turn at most', {
  timeout: 300_000,
}, async ({ world }) => {
  const [flooding, other] = [await world.merchant([]), await world.merchant([])]
  for (let made = 0; made < 2_000; made += 50) {
    await Promise.all(Array.from({ length: 50 }, () => flooding.create(VA)))
  }
  const { body } = await other.create(VA)
  // The provider says nothing of its own expiry, so that all of it is due work's.
  await world.fault('callback', 'lost', undefined, 10_000)
  await world.advance(A_DAY_S)

  await world.invoke('check-due-work')

  await expect
    .poll(async () => (await other.payment(String(body['id'])))['status'], { timeout: 60_000, interval: 100 })
    .toBe('expired')
  // Behind its slot's first turn, while the quota has let a small part of the flood pass.
  const { body: expired } = await flooding.get('/v1/payments?status=expired&per_page=1')
  expect(expired).toMatchObject({ pagination: { total: expect.any(Number) } })
  expect(Number(Object(expired['pagination']).total)).toBeLessThan(500)
  await fetch(`${world.urls.provider}/_simulator/faults`, { method: 'DELETE' })
})
