/**
 * Goal: whatever happens between us and the provider, one key is one payment (spec 4.1, rule 3).
 * Method: the running local gateway by HTTP alone, with the provider simulator's faults.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OVO, startWorld, VA, type World } from '../support/gateway-world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const createCalls = async () => (await world.providerCalls())['POST /v3/payment_requests'] ?? 0

describe('creating payments under fire', () => {
  it('answers 200 concurrent creates of one key with the same payment and one provider call', async () => {
    const { create } = await world.merchant([])
    const before = await createCalls()

    const answers = await Promise.all(Array.from({ length: 200 }, () => create(VA, 'one-key')))

    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1)
    expect(new Set(answers.map(({ body }) => body['payment_destination'])).size).toBe(1)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(199)
    expect((await createCalls()) - before).toBe(1)
  })

  it('keeps the same key of two clients apart, and a reused key on its original', async () => {
    const [one, two] = [await world.merchant([]), await world.merchant([])]

    const first = await one.create(VA, 'shared-key')
    const other = await two.create(VA, 'shared-key')
    const reused = await one.create({ ...VA, amount: 5 }, 'shared-key')

    expect(other.body['id']).not.toBe(first.body['id'])
    expect([reused.status, reused.body, reused.headers.get('idempotency-replayed')]).toStrictEqual([
      200,
      first.body,
      'true',
    ])
  })

  it('matches money paid on a first, unseen attempt to the payment the retry made, and credits it once', async () => {
    const { create, payment, balance } = await world.merchant([])
    await world.fault('create', 'timeout_after_commit')

    const failed = await create(VA, 'timed-out')
    const retried = await create(VA, 'timed-out')
    const id = String(retried.body['id'])
    await world.pay(id, 0)

    expect([failed.status, failed.body['code']]).toStrictEqual([500, 'internal_error'])
    expect([retried.status, retried.body['status']]).toStrictEqual([201, 'pending'])
    await expect.poll(async () => (await payment(id))['status']).toBe('succeeded')
    expect(await balance()).toMatchObject({ pending_minor: 95_900 })
    expect((await world.upstream(id)).map(({ status }) => status)).toStrictEqual(['SUCCEEDED', 'CANCELED'])
  })

  it.each(['http_500', 'http_503', 'http_429', 'refuse'] as const)(
    'recovers from %s with the same key',
    async (fault) => {
      const { create } = await world.merchant([])
      await world.fault('create', fault, fault === 'refuse' ? 'INVALID_MERCHANT_SETTINGS' : undefined)

      const failed = await create(VA, fault)
      const retried = await create(VA, fault)

      expect([failed.status, failed.body['code']]).toStrictEqual([500, 'internal_error'])
      expect(retried.status).toBe(201)
    },
  )

  it('credits an OVO payment that was captured while it was still being created', async () => {
    const { create, payment, balance } = await world.merchant([])
    await world.fault('create', 'slow', 3_000)

    const creating = create(OVO, 'ovo-now')
    await expect.poll(async () => (await createdRequests('ovo')).length, { timeout: 5_000 }).toBeGreaterThan(0)
    const [request] = await createdRequests('ovo')
    const paymentId = String(request?.['reference_id']).slice(0, 36)
    await world.pay(paymentId)
    const created = await creating

    expect([created.status, created.body['id']]).toStrictEqual([201, paymentId])
    await world.invoke('check-due-work')
    await expect.poll(async () => (await payment(paymentId))['status']).toBe('succeeded')
    expect(await balance()).toMatchObject({ pending_minor: 97_900 })
    const { body: suspense } = await world.admin('list-suspense', {})
    expect(JSON.stringify(suspense)).not.toContain(paymentId)
  })

  it('takes an OVO key again a minute after its push was declined, or paid with another amount', async () => {
    const { create, balance } = await world.merchant([])
    const keys = ['declined', 'paid-short']
    await world.fault('create', 'timeout_after_commit', undefined, keys.length)
    const failed = await Promise.all(keys.map((key) => create(OVO, key)))
    const [declined, short] = (await createdRequests('ovo')).slice(-keys.length)
    await world.control(`/payment_requests/${declined?.payment_request_id ?? ''}/fail`)
    await world.fault('payment', 'wrong_amount', 99_999)
    await world.pay(String(short?.['reference_id']).slice(0, 36))

    const early = await Promise.all(keys.map((key) => create(OVO, key)))
    await world.advance(61)
    const late = await Promise.all(keys.map((key) => create(OVO, key)))

    expect([...failed, ...early, ...late].map(({ status }) => status)).toStrictEqual([500, 500, 500, 500, 201, 201])
    expect(new Set(late.map(({ body }) => body['id'])).size).toBe(2)
    const { body: suspense } = await world.admin('list-suspense', {})
    expect(JSON.stringify(suspense)).toContain('wrong_amount')
    expect(await balance()).toMatchObject({ pending_minor: 0 })
  })
})

const createdRequests = async (channel: string) =>
  (await world.upstream('')).filter(
    ({ channel_code: code, status }) => String(code).toLowerCase() === channel && status !== 'SUCCEEDED',
  )
