/**
 * Goal: whatever happens between us and the provider, one key is one payment (spec 4.1, rule 3).
 * Method: the running local gateway by HTTP alone, with the provider simulator's faults.
 */
import { describe, expect } from 'vitest'
import { worldIt as it, OVO, VA, type World } from './gateway-world.ts'

const failure = [500, 'internal_error']

describe('creating payments under fire', () => {
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

  it('matches money paid on a first, unseen attempt to the payment the retry made, and credits it once', async ({
    world,
  }) => {
    const { create, payment, balance } = await world.merchant([])
    await world.fault('create', 'timeout_after_commit')

    const failed = await create(VA, 'timed-out')
    const retried = await create(VA, 'timed-out')
    const id = String(retried.body['id'])
    await world.pay(id, 0)

    expect([failed.status, failed.body['code']]).toStrictEqual(failure)
    expect([retried.status, retried.body['status']]).toStrictEqual([201, 'pending'])
    await expect.poll(async () => (await payment(id))['status']).toBe('succeeded')
    expect(await balance()).toMatchObject({ pending_minor: 95_900 })
    expect((await world.upstream(id)).map(({ status }) => status)).toStrictEqual(['SUCCEEDED', 'CANCELED'])
  })

  it.for([
    ['http_500', undefined],
    ['http_503', undefined],
    ['http_429', undefined],
    ['refuse', 'INVALID_MERCHANT_SETTINGS'],
  ] as const)('recovers from %s %s with the same key', async ([fault, value], { world }) => {
    const { create } = await world.merchant([])
    await world.fault('create', fault, value)

    const failed = await create(VA, fault)
    const retried = await create(VA, fault)

    expect([failed.status, failed.body['code']]).toStrictEqual(failure)
    expect(retried.status).toBe(201)
  })

  it('credits an OVO payment that was captured while it was still being created', async ({ world }) => {
    const { create, payment, balance } = await world.merchant([])
    const before = await ovoPayments(world)
    await world.fault('create', 'slow', 3_000)

    const creating = create(OVO, 'ovo-now')
    await expect.poll(() => ovoPayments(world), { timeout: 5_000 }).toHaveLength(before.length + 1)
    const paymentId = (await ovoPayments(world)).at(-1)?.paymentId ?? ''
    await world.pay(paymentId)
    const created = await creating

    expect([created.status, created.body['id']]).toStrictEqual([201, paymentId])
    await world.invoke('check-due-work')
    await expect.poll(async () => (await payment(paymentId))['status']).toBe('succeeded')
    expect(await balance()).toMatchObject({ pending_minor: 97_900 })
    expect(JSON.stringify(await world.admin('list-suspense'))).not.toContain(paymentId)
  })

  it('takes an OVO key again a minute after its push was declined, or paid with another amount', async ({ world }) => {
    const { create, balance } = await world.merchant([])
    const keys = ['declined', 'paid-short']
    const createAll = () => Promise.all(keys.map((key) => create(OVO, key)))
    await world.fault('create', 'timeout_after_commit', undefined, keys.length)
    const failed = await createAll()
    const [declined, short] = (await ovoPayments(world)).slice(-keys.length)
    await world.control(`/payment_requests/${declined?.requestId ?? ''}/fail`)
    await world.fault('payment', 'wrong_amount', 99_999)
    await world.pay(short?.paymentId ?? '')

    const early = await createAll()
    await world.advance(61)
    const late = await createAll()

    expect([...failed, ...early, ...late].map(({ status }) => status)).toStrictEqual([500, 500, 500, 500, 201, 201])
    expect(new Set(late.map(({ body }) => body['id'])).size).toBe(2)
    expect(JSON.stringify(await world.admin('list-suspense'))).toContain('wrong_amount')
    expect(await balance()).toMatchObject({ pending_minor: 0 })
  })
})

/** What was asked of OVO so far, oldest first. */
const ovoPayments = async ({ upstream }: Pick<World, 'upstream'>) =>
  (await upstream(''))
    .filter((request) => request['channel_code'] === 'OVO')
    .map((request) => ({
      requestId: request.payment_request_id,
      paymentId: String(request['reference_id']).slice(0, 36),
    }))
