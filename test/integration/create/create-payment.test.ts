import { describe, expect } from 'vitest'
import { invalid } from '../../../shared/errors.ts'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { createPayment } from '../../../shared/payment/create/create-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aRequest, aStoredClient, create } from '../../support/payment-builders.ts'
import { paymentTest as it } from '../../support/payment-test.ts'
import { sleepBesideOthers, testDeps } from '../../support/test-deps.ts'

const refusedBody = { ok: false, error: invalid('invalid JSON body: not well-formed JSON') } as const

describe('createPayment (spec 4.1)', () => {
  it('makes one provider request, one pending payment with its estimate, and counts it', async ({ deps, client }) => {
    const { payment, replayed } = await create(deps, client, aRequest({ externalReference: 'order-1' }), 'key-1')

    expect(replayed).toBe(false)
    expect(payment).toMatchObject({
      paymentId: paymentIdForKey(client.clientId, 'key-1'),
      status: 'pending',
      notionalMinor: 100_000,
      providerFeeMinor: 4_000,
      markupMinor: 100,
      netMinor: 95_900,
      feeStatus: 'estimated',
      paymentDestination: '381652390000001',
      externalReference: 'order-1',
      expiresAt: '2026-11-21T04:00:00.000Z',
      createdAt: '2026-11-20T04:00:00.000Z',
    })
    expect(deps.provider.countOf('createRequest')).toBe(1)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })

  it('makes a payment of its own for every request without a key', async ({ deps, client }) => {
    const first = await create(deps, client)
    const second = await create(deps, client)

    expect(first.payment.paymentId).not.toBe(second.payment.paymentId)
    expect(deps.provider.countOf('createRequest')).toBe(2)
  })

  it('returns the original payment for a reused key, whatever the new body says', async ({ deps, client }) => {
    const original = await create(deps, client, aRequest(), 'key-1')

    const replay = await create(deps, client, aRequest({ notionalMinor: minor(5) }), 'key-1')
    const unreadable = await createPayment(deps, { client, idempotencyKey: 'key-1', parsed: refusedBody })

    expect(replay).toEqual({ payment: original.payment, replayed: true })
    expect(unreadable).toEqual({ payment: original.payment, replayed: true })
    expect(deps.provider.countOf('createRequest')).toBe(1)
  })

  it('refuses an unreadable body with a key that has no payment, and writes nothing', async ({ deps, client }) => {
    const attempt = createPayment(deps, { client, idempotencyKey: 'key-1', parsed: refusedBody })

    await expect(attempt).rejects.toThrow('invalid JSON body')
    expect(await findStoredPayment(deps, paymentIdForKey(client.clientId, 'key-1'))).toBeUndefined()
  })

  it('makes two payments for the same key of two clients', async ({ deps }) => {
    const [one, two] = [await aStoredClient(deps), await aStoredClient(deps)]

    const first = await create(deps, one, aRequest(), 'key-1')
    const second = await create(deps, two, aRequest(), 'key-1')

    expect(first.payment.paymentId).not.toBe(second.payment.paymentId)
  })

  it('answers 200 concurrent requests of one key with the same payment and one provider call', async () => {
    const deps = testDeps({ sleep: sleepBesideOthers })
    const client = await aStoredClient(deps)

    const results = await Promise.all(Array.from({ length: 200 }, () => create(deps, client, aRequest(), 'key-1')))

    expect(new Set(results.map(({ payment }) => payment.paymentId)).size).toBe(1)
    expect(new Set(results.map(({ payment }) => payment.paymentDestination)).size).toBe(1)
    expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(deps.provider.countOf('createRequest')).toBe(1)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('sends an explicit expiry where the provider takes one, and shows the earlier of wish and channel elsewhere', async ({
    deps,
    client,
  }) => {
    const bank = await create(deps, client, aRequest({ expiresInSeconds: 7 * 86_400 }))
    const qris = await create(
      deps,
      client,
      aRequest({ method: 'qris', channelCode: undefined, expiresInSeconds: 7 * 86_400 }),
    )

    const sent = [...deps.provider.requests.values()].map(({ input }) => input.expiresAt)
    expect(sent).toStrictEqual(['2026-11-27T04:00:00.000Z', undefined])
    expect(bank.payment.expiresAt).toBe('2026-11-27T04:00:00.000Z')
    expect(qris.payment.expiresAt).toBe('2026-11-22T04:00:00.000Z')
  })
})
