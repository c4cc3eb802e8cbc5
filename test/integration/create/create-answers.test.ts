/*
 * What a merchant is told when the provider takes a create in another way than by an open request:
 * it has ended already, it is refused, it is a push, or the provider pauses creates.
 */
import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import type { PaymentRequest } from '../../../shared/payment/payment.ts'
import type { CreateAnswer } from '../../../shared/provider/provider.ts'
import {
  aRequest,
  changeCreated,
  checkWhenDue,
  create,
  lateAnswer,
  OVO_REQUEST,
} from '../../support/payment-builders.ts'
import { expectSuspense } from '../../support/synced-payment.ts'
import { failingOn, interceptTable, memoryDeps, testDeps } from '../../support/test-deps.ts'
import { aCreate } from '../payment/payment-test.ts'

function refused(code: string, more: object = {}): CreateAnswer {
  return { kind: 'refused', code, ...more }
}

const INVALID = refused('INVALID_VALUE_ERROR')
const NOT_ACTIVATED = refused('INVALID_MERCHANT_SETTINGS', { isNotActivated: true })

function bca(amount: number): Partial<PaymentRequest> {
  return { notionalMinor: minor(amount) }
}
function wallet(channelCode: string): Partial<PaymentRequest> {
  return { method: 'ewallet', channelCode }
}
const BCA_LIMITS = 'amount must be 10000 to 50000000 for channel BCA'

describe('createPayment when the provider refuses (design section 4)', () => {
  it.each([
    // The limits are those of the provider's list of payment methods, read 2026-09-30.
    [bca(9_999), INVALID, 'amount', BCA_LIMITS],
    [bca(50_000_001), INVALID, 'amount', BCA_LIMITS],
    [
      { method: 'qris', channelCode: undefined, ...bca(20_000_001) },
      INVALID,
      'amount',
      'amount must be 1 to 20000000 for channel qris',
    ],
    [
      { ...OVO_REQUEST, customer: { phone: '+62215551234' } },
      refused('API_VALIDATION_ERROR'),
      'customer.phone',
      'customer.phone must be an Indonesian mobile number (+628...) for channel OVO',
    ],
    [
      wallet('NEWPAY'),
      NOT_ACTIVATED,
      'channel_code',
      'channel_code NEWPAY is not activated at the provider',
    ],
  ] as const)(
    'answers 422 with the field and the limit for %j after %j',
    async (fields, answer, field, message) => {
      const { deps, make, creates } = await aCreate(fields)
      deps.provider.answer('createRequest', answer)

      await expect(make()).rejects.toMatchObject({
        code: 'validation',
        message,
        details: { fieldErrors: { [field]: [message] } },
      })
      expect(deps.lines.at(-1)).toMatchObject({ code: 'payment.create_refused' })
      // The key may be used again with a request that the channel takes.
      deps.provider.heal('createRequest')
      expect(await make(deps, aRequest())).toMatchObject({ payment: { status: 'pending' } })
      expect(creates()).toBe(2)
    },
  )

  it.each([
    [bca(10_000), INVALID],
    [bca(50_000_000), refused('API_VALIDATION_ERROR')],
    [bca(9_999), refused('INVALID_API_KEY', { isAccountWide: true })],
    [OVO_REQUEST, INVALID],
    [wallet('NEWPAY'), INVALID],
  ])('answers 500, as its own failure, for %j after %j', async (fields, answer) => {
    const { deps, make } = await aCreate(fields)
    deps.provider.answer('createRequest', answer)

    await expect(make()).rejects.toMatchObject({ code: 'internal_error' })
    expect(deps.lines.at(-1)).toMatchObject({ code: 'payment.create_failed' })
  })

  it('counts a create once whose refusal cannot be stored', async () => {
    const { deps, make, creates } = await aCreate()
    deps.provider.answer('createRequest', INVALID)
    const lost = interceptTable(deps, { before: () => expect(creates()).toBe(0) })

    await expect(make(lost)).rejects.toThrow()
    expect(deps.lines).toMatchObject([{ code: 'payment.create_failed' }])
  })

  it('tells operators once a day that a channel of the tariff is not activated, and pages nobody', async () => {
    const deps = memoryDeps()
    for (const day of [1, 1, 2]) {
      const { client } = await aCreate({}, deps)
      deps.provider.answer('createRequest', NOT_ACTIVATED)
      deps.clock.pass(day === 2 ? 86_400_000 : 0)

      await expect(create(deps, client, aRequest(wallet('DANA')))).rejects.toMatchObject({
        code: 'internal_error',
      })
    }

    expect(deps.published.map(({ kind }) => kind)).toEqual(Array(2).fill('suspense.finding'))
    const subject = `DANA#${deps.now().slice(0, 10)}#channel_not_activated`
    await expectSuspense(deps, subject, { status: 'open' })
    expect(deps.lines.map(({ code }) => code)).not.toContain('payment.create_failed')
  })

  it('names the refusal and releases the key although the operators could not be told', async () => {
    const { deps, make } = await aCreate(wallet('DANA'))
    deps.provider.answer('createRequest', NOT_ACTIVATED)

    await expect(make(failingOn(deps, 'transact', 'before'))).rejects.toThrow(
      'the provider refused the payment: INVALID_MERCHANT_SETTINGS',
    )
    deps.provider.heal('createRequest')
    expect(await make(deps, aRequest())).toMatchObject({ outcome: 'created' })
  })
})

describe('createPayment when the answer has ended already (design section 4)', () => {
  it.each(['failed', 'succeeded', 'unknown'] as const)(
    'stores a request that is %s as pending, due at once',
    async (status) => {
      const { deps, make, reread } = await aCreate()
      changeCreated(deps, { status, destination: undefined })

      const { payment } = await make()
      if (status === 'succeeded') deps.provider.pay(payment.paymentRequestId)

      expect(payment).toMatchObject({
        status: 'pending',
        paymentDestination: '',
        dueAt: deps.now(),
      })
      await checkWhenDue(deps, payment)
      expect(await reread()).toMatchObject({ status: status === 'unknown' ? 'pending' : status })
    },
  )

  it('cancels an open request that has no destination', async () => {
    const { deps, make, reread } = await aCreate()
    changeCreated(deps, { destination: undefined })

    await expect(make()).rejects.toThrow('the provider gave no payment destination')
    expect(await reread()).toMatchObject({ status: 'creating' })
    expect(deps.provider.countOf('cancelRequest')).toBe(1)
  })
})

describe('a wallet outside the table of channels', () => {
  it.each([undefined, 'https://checkout.example/1'])(
    'may push, with destination %s',
    async (destination) => {
      const { deps, make } = await aCreate(wallet('JENIUSPAY'))
      changeCreated(deps, { destination })

      const paymentDestination = destination ?? ''
      expect((await make()).payment).toMatchObject({ status: 'pending', paymentDestination })
      expect(deps.provider.countOf('cancelRequest')).toBe(0)
    },
  )

  it('gets no second create within a minute of one whose outcome is unknown', async () => {
    const { deps, make, creates, timeOut } = await aCreate(wallet('JENIUSPAY'))
    await timeOut()

    await expect(make()).rejects.toThrow('the customer may still answer the earlier push')
    deps.clock.advance(60)
    expect((await make()).payment).toMatchObject({ status: 'pending', attempt: 2 })
    expect(creates()).toBe(2)
  })
})

describe('createPayment while the provider pauses creates (design section 4)', () => {
  it('waits for the end of a pause of two seconds', async () => {
    const slept: number[] = []
    const sleep = async (ms: number) => void slept.push(ms)
    const { deps, make } = await aCreate({}, testDeps({ sleep }))
    deps.provider.script('pauseMs', () => 2_000)

    expect(await make()).toMatchObject({ payment: { status: 'pending' } })
    expect(slept).toStrictEqual([2_000])
  })

  it('answers 429 with Retry-After in every environment, asks nobody, and replays', async () => {
    const first = memoryDeps()
    const { client, make, creates } = await aCreate({}, first)
    const replayed = await create(first, client, aRequest(), 'an earlier key')
    first.provider.answer('createRequest', { kind: 'not_executed', reason: 'RATE_LIMIT_EXCEEDED' })
    // The first 429 makes the pause known.
    first.provider.script('pauseMs', () => (creates() < 2 ? 0 : 12_250))
    await expect(make()).rejects.toMatchObject({ code: 'internal_error' })
    const second = testDeps({ requests: first.requests, now: first.now })
    const paused = { code: 'rate_limit', details: { retryAfterSeconds: 13 } }

    for (const deps of [first, second]) {
      for (const key of ['key-1', 'key-2'])
        await expect(create(deps, client, aRequest(), key)).rejects.toMatchObject(paused)
      expect(await create(deps, client, aRequest(), 'an earlier key')).toMatchObject({
        outcome: 'replayed',
        payment: { paymentId: replayed.payment.paymentId },
      })
    }
    expect([creates(), second.provider.countOf('createRequest')]).toStrictEqual([2, 0])
    expect(second.lines.map(({ fields }) => fields['reason'])).toEqual(Array(2).fill('no_capacity'))
  })

  it('replays the payment of an attempt that runs', async () => {
    const { deps, make, creates } = await aCreate()
    const answer = lateAnswer(deps)
    const first = make()
    await expect.poll(creates).toBe(1)
    deps.provider.script('pauseMs', () => 12_250)

    const second = make()
    answer.resolve()

    expect([(await first).outcome, (await second).outcome]).toStrictEqual(['created', 'replayed'])
  })
})
