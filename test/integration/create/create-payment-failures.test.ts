import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { GatewayError } from '../../../shared/errors.ts'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import type { CreateAnswer } from '../../../shared/provider/provider.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { addMs, HOUR_MS } from '../../../shared/time.ts'
import {
  aRequest,
  create,
  ledgerView,
  ONE_PENDING,
  OVO_REQUEST,
  TIMED_OUT,
} from '../../support/payment-builders.ts'
import {
  afterFirst,
  failingOn,
  interceptTable,
  type TestDeps,
  testDeps,
} from '../../support/test-deps.ts'
import { aCreate, paymentTest as it, withFrozenConflicts } from '../payment/payment-test.ts'

const REFUSED: CreateAnswer = { kind: 'refused', code: 'INVALID_VALUE_ERROR' }
const NOT_EXECUTED: CreateAnswer = { kind: 'not_executed', reason: 'RATE_LIMIT_EXCEEDED' }

async function failWith(deps: TestDeps, client: Client, answers: readonly CreateAnswer[]) {
  for (const answer of answers) {
    deps.provider.answer('createRequest', answer)
    await create(deps, client, aRequest(), 'key-1').catch(() => undefined)
  }
  deps.provider.heal('createRequest')
}

describe('createPayment when the provider fails', () => {
  it.for([
    // A push that the customer cannot have got does not hold back the next push.
    [
      { kind: 'refused', code: 'NOT_ACTIVATED' },
      'the provider refused the payment: NOT_ACTIVATED',
      OVO_REQUEST,
    ],
    [
      { kind: 'not_executed', reason: 'rate_limited' },
      'the provider accepts no payments right now',
      OVO_REQUEST,
    ],
    [TIMED_OUT, 'the provider did not answer', {}],
    [
      { kind: 'unknown', reason: 'HTTP 500 SERVER_ERROR', answered: true },
      'the provider failed',
      {},
    ],
  ] as const)(
    'answers internal_error after %o; a retry creates the payment',
    async ([answer, message, fields], { deps, client }) => {
      const make = () => create(deps, client, aRequest(fields), 'key-1')
      deps.provider.answer('createRequest', answer)

      const failure = await make().catch((error: unknown) => error)
      deps.provider.heal('createRequest')
      const retry = await make()

      expect(failure).toMatchObject({
        code: 'internal_error',
        message: expect.stringContaining(message) as string,
      })
      expect(retry.payment).toMatchObject({ status: 'pending', attempt: 2 })
      expect(retry.payment.providerAttempts.map(({ outcome }) => outcome)).toStrictEqual([
        answer.kind,
        'created',
      ])
      expect(await ledgerView(deps, client)).toStrictEqual(ONE_PENDING)
    },
  )

  it('uses the stored request, and keeps it for ever, also when all other attempts were refused', async ({
    deps,
    client,
  }) => {
    const key = paymentKey(paymentIdForKey(client.clientId, 'key-1'))
    for (const answers of [[REFUSED, TIMED_OUT], [REFUSED]]) {
      await failWith(deps, client, answers)
      expect(await deps.table.get(key)).not.toHaveProperty('ttl')
    }

    const other = aRequest({ notionalMinor: minor(70_000) })
    const { payment } = await create(deps, client, other, 'key-1')

    expect(payment).toMatchObject({ status: 'pending', attempt: 4, notionalMinor: 100_000 })
  })

  it.for([
    [[NOT_EXECUTED], 100_000, 'resumed'],
    [[REFUSED, NOT_EXECUTED], 100_000, 'resumed'],
    [[NOT_EXECUTED, REFUSED], 70_000, 'created'],
  ] as const)(
    'forgets the request after 90 days, and takes the new one after a refusal, when no attempt left anything at the provider: %j',
    async ([answers, amount, expected], { deps, client }) => {
      await failWith(deps, client, answers)
      const key = paymentKey(paymentIdForKey(client.clientId, 'key-1'))
      expect(await deps.table.get(key)).toHaveProperty('ttl')

      const other = aRequest({ notionalMinor: minor(70_000) })
      const { payment, outcome } = await create(deps, client, other, 'key-1')

      expect([payment.notionalMinor, outcome]).toStrictEqual([amount, expected])
    },
  )

  it('replays the payment when a later attempt overtook the takeover', async () => {
    const { deps, make, creates, timeOut } = await aCreate()
    await timeOut()
    deps.provider.script('createRequest', async () => {
      deps.provider.heal('createRequest')
      deps.clock.advance(31)
      await make()
      return TIMED_OUT
    })

    const { payment, outcome } = await make()

    expect([payment.attempt, outcome, creates()]).toStrictEqual([3, 'replayed', 3])
  })

  it('gives up when other callers were first five times', async () => {
    const { deps, make, creates } = await aCreate()
    deps.provider.answer('createRequest', TIMED_OUT)
    await make().catch(() => undefined)
    const overtaken = interceptTable(deps, {
      before: async ({ name }) => {
        if (name === 'update' && creates() < 9) await make().catch(() => undefined)
      },
    })

    await expect(make(overtaken)).rejects.toThrow('the payment could not be created now')
    expect(creates()).toBe(6)
  })

  it('answers 200 waiting callers with the failure of the attempt, and makes no second call', async () => {
    let polls = 0
    // A sleep takes no time on the manual clock: the sleeps of 200 callers would add up and outlast
    // every lease.
    const sleep = (): Promise<void> => {
      polls++
      return new Promise((resolve) => setTimeout(resolve, 5))
    }
    const { deps, make, creates } = await aCreate({}, testDeps({ sleep }))
    const answer = Promise.withResolvers<CreateAnswer>()
    deps.provider.script('createRequest', () => answer.promise)
    const failureOf = () => make().catch((error: unknown) => error)

    const first = failureOf()
    await expect.poll(creates).toBe(1)
    const waiters = Promise.all(Array.from({ length: 200 }, failureOf))
    await expect.poll(() => polls).toBeGreaterThanOrEqual(200)
    answer.resolve(TIMED_OUT)
    const failures = [await first, ...(await waiters)]

    const messages = failures.map((error) => error instanceof GatewayError && error.message)
    expect(messages).toStrictEqual(
      Array(201).fill('the provider did not answer; retry with the same Idempotency-Key'),
    )
    expect(creates()).toBe(1)
  })
})

/**
 * Goal: the platform ends a create at its time limit, and the create continues when its environment
 * is thawed much later. The create commits no payment that expires before it is created, and leaves
 * no request that can be paid. Method: the wall clock jumps while the create waits, once at each of
 * its awaits; the monotonic clock does not advance.
 */

function freeze({ clock }: TestDeps, ms: number) {
  return clock.set(addMs(clock.now(), ms))
}

describe('a create whose environment is frozen after its answer', () => {
  it('commits no payment that has expired: it cancels the request, releases the lease and answers 500', async () => {
    const { deps, make, reread, ledger, statuses } = await aCreate({ expiresInSeconds: 3_600 })
    deps.provider.script('createRequest', async (input, timeoutMs) => {
      const answer = await deps.provider.healthy.createRequest(input, timeoutMs)
      freeze(deps, HOUR_MS)
      return answer
    })

    await expect(make()).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('expired'),
    })
    expect(statuses()).toStrictEqual(['cancelled'])
    const [paymentRequestId] = deps.provider.requests.keys()
    expect(await reread()).toMatchObject({
      status: 'creating',
      providerAttempts: [
        {
          number: 1,
          outcome: 'unknown',
          code: 'expired_before_commit',
          endedAt: deps.now(),
          paymentRequestId,
        },
      ],
    })
    expect(await reread()).not.toHaveProperty('leaseUntil')
    expect(await ledger()).toStrictEqual({ pendingMinor: 0 })

    deps.provider.heal('createRequest')
    const { payment, outcome } = await make()

    expect(payment).toMatchObject({
      status: 'pending',
      attempt: 2,
      expiresAt: addMs(payment.createdAt, HOUR_MS),
    })
    expect(outcome).toBe('resumed')
    expect(await ledger()).toStrictEqual(ONE_PENDING)
  })

  it.for([
    ['created', 15_000, freeze],
    // Without time for a retry, the refused release shows the commit.
    ['created', 21_900],
    ['lost', 22_000],
  ] as const)(
    'recognises its own commit, and does not cancel its request: %s after %i ms',
    async ([end, ms, pass = ({ clock }) => clock.pass(ms)]) => {
      const { deps, make, ledger, statuses } = await aCreate({ expiresInSeconds: 10 })
      const losing = afterFirst(deps, 'transact', () => {
        pass(deps, ms)
        throw new Error('the answer was lost')
      })

      expect(await make(losing).then(({ outcome }) => outcome, String)).toContain(end)

      expect((await make()).payment).toMatchObject({ status: 'pending', attempt: 1 })
      expect(statuses()).toStrictEqual(['open'])
      expect(await ledger()).toStrictEqual(ONE_PENDING)
    },
  )

  it('does not repeat a commit with an old created_at', async () => {
    const short = await aCreate({ expiresInSeconds: 60 })
    const { deps, make, ledger } = await aCreate()

    const expiredCreate = short.make(withFrozenConflicts(short.deps, 1, 3_600))
    await expect(expiredCreate).rejects.toThrow('expired before it could be shown')

    expect((await make(withFrozenConflicts(deps, 1, 3_600))).payment.createdAt).toBe(deps.now())
    expect(await ledger()).toStrictEqual(ONE_PENDING)
  })
})

it('a failed commit releases its lease: the next request takes over at once, and cancels the first provider request', async () => {
  const { deps, make, statuses } = await aCreate()

  await expect(make(failingOn(deps, 'transact', 'before'))).rejects.toThrow('cannot be reached')
  const { payment } = await make()

  expect(deps.lines[0]).toMatchObject({ code: 'payment.create_failed' })
  expect(payment).toMatchObject({ status: 'pending', attempt: 2 })
  expect(payment.providerAttempts).toMatchObject([
    { outcome: 'unknown', code: 'commit_failed' },
    {},
  ])
  expect(statuses()).toStrictEqual(['cancelled', 'open'])
})
