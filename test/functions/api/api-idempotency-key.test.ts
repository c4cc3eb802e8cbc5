import { describe, expect, it } from 'vitest'
import { paymentIdForKey } from '../../../shared/ids.ts'
import type { CreateAnswer } from '../../../shared/provider/provider.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { API, anApi, aPaymentBody, call, NONE, PAGE } from '../../support/api-event.ts'
import { ledgerView, ONE_PENDING, TIMED_OUT } from '../../support/payment-builders.ts'
import { alter } from '../../support/tampering.ts'
import { memoryDeps, recordTable, testDeps } from '../../support/test-deps.ts'

async function aMerchant(deps = testDeps()) {
  const { caller, ask } = await anApi({}, deps)
  const create = (key?: string, body: unknown = aPaymentBody()) =>
    ask('createPayment', { body, headers: key === undefined ? {} : { 'Idempotency-Key': key } })
  const list = (query: Readonly<Record<string, string>>) => ask('listPayments', { query })
  return { deps, caller, create, list, ledger: () => ledgerView(deps, caller) }
}

const REPLAYED = { 'idempotency-replayed': 'true' }

describe('Idempotency-Key of POST /v1/payments (spec 4.1, rule 3)', () => {
  it.each([
    ['the same bytes', aPaymentBody()],
    ['another amount', aPaymentBody({ amount: 5 })],
    ['more than 64 KB', 'x'.repeat(70_000)],
  ])(
    'answers 201 first, then 200 with the same bytes and a header that marks the replay, when the new body has %s',
    async (_, body) => {
      const { deps, caller, create, ledger } = await aMerchant()

      const first = await create('order-1')
      deps.clock.advance(3_600)
      const repeated = await create('order-1', body)

      expect([first.status, repeated.status]).toStrictEqual([201, 200])
      expect(repeated.text).toBe(first.text)
      expect(first.body['id']).toBe(paymentIdForKey(caller.clientId, 'order-1'))
      expect(first.headers).not.toHaveProperty('idempotency-replayed')
      expect(repeated.headers).toMatchObject(REPLAYED)
      expect(deps.provider.countOf('createRequest')).toBe(1)
      expect(await ledger()).toStrictEqual(ONE_PENDING)
    },
  )

  const BAD_BODIES = ['nonsense', aPaymentBody({ amount: 0 }), aPaymentBody({ colour: 'red' })]
  it.each([aPaymentBody({ amount: 5 }), ...BAD_BODIES])(
    'goes on from the stored request after an unknown outcome, and says so: %j',
    async (body) => {
      const { deps, create, list } = await aMerchant()
      deps.provider.answer('createRequest', TIMED_OUT)
      await create('order-1')
      deps.provider.heal('createRequest')

      const resumed = await create('order-1', body)

      expect([resumed.status, resumed.body['notional_minor']]).toStrictEqual([201, 100_000])
      expect(resumed.headers).toMatchObject(REPLAYED)
      expect((await list({ idempotency_key: 'order-1' })).body['data']).toStrictEqual([
        resumed.body,
      ])
    },
  )

  it.each<readonly CreateAnswer[]>([
    [{ kind: 'refused', code: 'INVALID' }],
    [
      { kind: 'not_executed', reason: 'unreachable' },
      { kind: 'refused', code: 'INVALID' },
    ],
  ])(
    'counts a claim as none when the provider refused every attempt that reached it: the new body is made or refused after %j',
    async (...answers) => {
      const { deps, create, ledger } = await aMerchant()
      for (const answer of answers) {
        deps.provider.answer('createRequest', answer)
        await create('order-1')
      }
      deps.provider.heal('createRequest')

      const refusals = []
      deps.provider.script('pauseMs', () => 12_250)
      for (const body of BAD_BODIES) refusals.push(await create('order-1', body))
      deps.provider.heal('pauseMs')
      const made = await create('order-1', aPaymentBody({ amount: 70_000 }))

      expect(refusals.map(({ status, body }) => [status, body['code']])).toStrictEqual(
        BAD_BODIES.map(() => [422, 'validation']),
      )
      expect([made.status, made.body['notional_minor']]).toStrictEqual([201, 70_000])
      expect(made.headers).not.toHaveProperty('idempotency-replayed')
      expect(deps.provider.countOf('createRequest')).toBe(answers.length + 1)
      expect(await ledger()).toStrictEqual(ONE_PENDING)
    },
  )

  it('makes a payment for every request without a key, with an empty key, or of another client', async () => {
    const { deps, create } = await aMerchant()
    const other = await aMerchant(deps)

    const answers = [await other.create('order-1')]
    for (const key of [undefined, undefined, '', '', 'order-1']) answers.push(await create(key))

    expect(answers.map(({ status }) => status)).toStrictEqual([201, 201, 201, 201, 201, 201])
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(6)
    expect(deps.provider.countOf('createRequest')).toBe(6)
  })

  it('accepts 255 characters and refuses 256, even if the key is used already', async () => {
    const { create, ledger } = await aMerchant()
    const most = 'k'.repeat(254)

    const answers = []
    for (const last of ['k', 'k', 'K', 'l', 'kk']) answers.push(await create(most + last))

    expect(answers.map(({ status }) => status)).toStrictEqual([201, 200, 201, 201, 422])
    const message = 'Idempotency-Key must have at most 255 characters'
    expect(answers[4]?.body).toMatchObject({ message, code: 'validation' })
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, pending: 3 })
  })

  it('refuses a key outside printable ASCII, which clients send as UTF-8 or as Latin-1', async () => {
    const { deps, create } = await aMerchant()
    const inLatin1 = 'commande-é'
    const inUtf8 = Buffer.from(inLatin1).toString('latin1')

    const answers = [await create(inLatin1), await create(inUtf8), await create('a\tb')]

    const message = 'Idempotency-Key must have only printable ASCII characters'
    expect(answers).toMatchObject(
      answers.map(() => ({ status: 422, body: { message, code: 'validation' } })),
    )
    expect(deps.provider.countOf('createRequest')).toBe(0)
  })
})

describe('GET /v1/payments?idempotency_key=… (design section 8)', () => {
  it('lists the one payment of the key as fetch shows it, with a single read', async () => {
    const { deps, caller, create, list } = await aMerchant()
    const { body } = await create('order 1/~')
    await create('order-2')
    const watched = recordTable(deps)

    const answer = await call(watched.deps, API.listPayments, {
      caller,
      query: { idempotency_key: 'order 1/~' },
    })
    // A key from a column of fixed width; HTTP sends it without the spaces.
    const second = await list({ idempotency_key: ' order 1/~ ', page: '2', per_page: '1' })

    const totals = { total: 1, total_pages: 1 }
    expect(answer.body).toStrictEqual({ data: [body], pagination: { ...PAGE, ...totals } })
    expect(watched.calls.map(({ name }) => name)).toStrictEqual(['batchGet', 'get'])
    expect(second.body).toStrictEqual({ data: [], pagination: { page: 2, per_page: 1, ...totals } })
  })

  it('is empty for an unknown key, another client’s key, and a key whose payment is still being created', async () => {
    const { deps, create, list } = await aMerchant()
    const otherMerchant = await aMerchant(deps)
    await otherMerchant.create('theirs')
    deps.provider.answer('createRequest', TIMED_OUT)
    await create('unanswered')

    const answers = []
    for (const key of ['absent', 'theirs', 'unanswered'])
      answers.push(await list({ idempotency_key: key }))
    deps.provider.heal('createRequest')
    const retry = await create('unanswered')

    expect(answers.map(({ status, body }) => [status, body])).toStrictEqual(
      answers.map(() => [200, NONE]),
    )
    expect((await list({ idempotency_key: 'unanswered' })).body['data']).toStrictEqual([retry.body])
  })
})

it.each([{ owner: crypto.randomUUID() }, { keyDigest: 'of another key' }])(
  'a key shows no payment whose row names another client or digest: %j',
  async (altered) => {
    const { deps, caller, create, list } = await aMerchant(memoryDeps())
    await create('order-1')
    const key = paymentKey(paymentIdForKey(caller.clientId, 'order-1'))
    await alter(deps, key, altered)

    const repeated = await create('order-1')

    expect([repeated.status, repeated.body['code']]).toStrictEqual([500, 'internal_error'])
    expect((await list({ idempotency_key: 'order-1' })).body['data']).toStrictEqual([])
    expect(deps.provider.countOf('createRequest')).toBe(1)
  },
)
