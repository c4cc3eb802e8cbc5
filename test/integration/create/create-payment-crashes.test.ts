import { describe, expect, it } from 'vitest'
import { commitAttempt } from '../../../shared/payment/create/run-attempt.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { addMs } from '../../../shared/time.ts'
import {
  aCreating,
  checkWhenDue,
  lateAnswer,
  ONE_PENDING,
  OVO_REQUEST,
  paidWhileCreating,
  TIMED_OUT,
} from '../../support/payment-builders.ts'
import { notifyOf } from '../../support/synced-payment.ts'
import {
  beforeFirst,
  failingOn,
  recordTable,
  requestsAround,
  type TableCall,
  type TestDeps,
  withRequests,
} from '../../support/test-deps.ts'
import { aCreate } from '../payment/payment-test.ts'

describe('createPayment after a crash', () => {
  /** Only the claim of the attempt is stored. */
  const aCrashedCreate = async (fields: Parameters<typeof aCreate>[0] = {}) => {
    const scene = await aCreate(fields)
    const { provider } = scene.deps
    provider.script('createRequest', () => Promise.reject(new Error('the process died')))
    await scene.make().catch(() => undefined)
    provider.heal('createRequest')
    return scene
  }

  it.each([
    ['20 seconds while the lease is live', 0, 'still being created'],
    ['the end of the lease', 10, 'could not be created'],
  ])(
    'makes the retry wait for %s, and take over after the lease has ended',
    async (_, passedSeconds, message) => {
      const { deps, make, ledger } = await aCrashedCreate()
      deps.clock.advance(passedSeconds)
      const waits = [19_999, 1]
      const sleep = () => deps.clock.sleep(waits.shift() ?? 1_000)

      await expect(make({ ...deps, sleep })).rejects.toThrow(message)
      expect(Math.floor(deps.monotonicMs())).toBe((passedSeconds + 20) * 1_000)
      deps.clock.advance(10 - passedSeconds)

      expect((await make()).payment).toMatchObject({ status: 'pending', attempt: 2 })
      expect(await ledger()).toStrictEqual(ONE_PENDING)
    },
  )

  it.each(['pending', 'succeeded'])(
    'does not wait for a lease that is long because the clock was set back: %s',
    async (status) => {
      const { deps, client, make, reread } = await aCreate()
      const { creating, answer, ...capture } = await paidWhileCreating(deps, client)
      deps.provider.heal('createRequest')
      deps.clock.set(addMs(deps.now(), -3_600_000))

      await (status === 'pending' ? make() : applyProviderNews(deps, capture, 'callback'))

      expect(await reread()).toMatchObject({ status })
      answer.resolve()
      expect((await creating).payment).toMatchObject({ status })
    },
  )

  it('refuses the commit of an attempt after a takeover, and cancels its request', async () => {
    const { deps, make, creates, statuses, ledger } = await aCreate()
    const answer = lateAnswer(deps)
    const frozenCreate = make()
    await expect.poll(creates).toBe(1)
    deps.clock.advance(31)
    deps.provider.heal('createRequest')

    const { payment } = await make()
    answer.resolve()

    expect(await frozenCreate).toEqual({ payment, outcome: 'replayed' })
    expect(statuses()).toStrictEqual(['cancelled', 'open'])
    expect(deps.provider.requestOf(payment.paymentRequestId).status).toBe('open')
    expect(await ledger()).toStrictEqual(ONE_PENDING)
  })

  it('sends a second OVO push only after the first push has ended and the provider was asked about it', async () => {
    const { deps, make, creates } = await aCrashedCreate(OVO_REQUEST)

    // The call of a dead process ends at an unknown time: the end of its lease is the bound.
    deps.clock.advance(89)
    await expect(make()).rejects.toThrow('the customer may still answer the earlier push')
    deps.clock.advance(1)
    deps.provider.silence('listTransactions')
    await expect(make()).rejects.toThrow('could not say whether a push was paid')
    // The process froze for its lease after it was told, and the customer may have paid since.
    deps.provider.before('listTransactions', () => deps.clock.advance(30))
    await expect(make()).rejects.toThrow('took too long')
    deps.provider.heal('listTransactions')

    expect((await make()).payment).toMatchObject({
      status: 'pending',
      attempt: 3,
      paymentDestination: '',
    })
    expect(creates()).toBe(2)
  })

  it.each([
    [10_000, 'made', 2],
    [10_001, 'took too long', 1],
  ])(
    'starts no provider call that it cannot finish in time: after a listing of %i ms, the outcome is “%s”',
    async (ms, outcome, calls) => {
      const { deps, make, creates } = await aCrashedCreate(OVO_REQUEST)
      deps.clock.advance(90)
      deps.provider.before('listTransactions', () => deps.clock.sleep(ms))

      expect(await make().then(() => 'made', String)).toContain(outcome)

      expect(creates()).toBe(calls)
    },
  )
})

/** The SDK repeats each request of this kind, because the first answer was lost. */
function repeating(deps: TestDeps, kind: TableCall['name']) {
  const requests = requestsAround(deps.requests, async ({ name }, send) => {
    if (name === kind) await send()
    return send()
  })
  return withRequests(deps, requests)
}

describe('a caller whose claim was applied, and is refused when the SDK repeats it', () => {
  it.each([
    ['first claim', 'put', 'created', 1],
    ['takeover', 'update', 'resumed', 2],
  ] as const)('goes on with a %s at once', async (_, kind, result, attempt) => {
    const { deps, make, creates, ledger, timeOut } = await aCreate()
    if (attempt === 2) await timeOut()
    const startMs = deps.monotonicMs()

    const { payment, outcome } = await make(repeating(deps, kind))

    expect([payment.attempt, outcome, creates()]).toStrictEqual([attempt, result, attempt])
    expect(deps.monotonicMs()).toBe(startMs)
    expect(await ledger()).toStrictEqual(ONE_PENDING)
  })

  it('waits for the claim of another caller at the same millisecond, and replays its payment', async () => {
    const { deps, make, creates } = await aCreate()

    const results = await Promise.all([make(repeating(deps, 'put')), make(repeating(deps, 'put'))])

    expect(results.map(({ outcome }) => outcome).toSorted()).toStrictEqual(['created', 'replayed'])
    expect(creates()).toBe(1)
  })
})

describe('a capture while the payment is still being created (OVO answers at once)', () => {
  const CREDITED = { pendingMinor: 97_900, succeeded: 1 }

  const paidOvo = async () => {
    const scene = await aCreate(OVO_REQUEST)
    const { deps, client } = scene
    const capture = await paidWhileCreating(deps, client, OVO_REQUEST)
    const { creating, providerPaymentId } = capture
    const notify = () => notifyOf(deps, providerPaymentId)
    creating.catch(() => undefined)
    return {
      ...scene,
      ...capture,
      notify,
      suspenseItem: () => findSuspense(deps, providerPaymentId),
    }
  }

  it('is stored during the lease, and credited by due work after the commit', async () => {
    const { deps, paymentId, creating, answer, notify, suspenseItem, reread, ledger } =
      await paidOvo()

    expect(await notify()).toStrictEqual({ kind: 'deferred' })
    answer.resolve()
    expect((await creating).payment).toMatchObject({ status: 'pending', dueAt: deps.now() })
    expect(await checkWhenDue(deps, { paymentId })).toBe('checked')

    expect(await reread()).toMatchObject({ status: 'succeeded' })
    expect(await ledger()).toStrictEqual(CREDITED)
    expect(await suspenseItem()).toBeUndefined()
  })

  it('is credited at once if the commit comes before it is stored', async () => {
    const { deps, creating, answer, providerPaymentId, ledger } = await paidOvo()
    const late = beforeFirst(deps, 'update', () => {
      answer.resolve()
      return creating
    })

    expect((await notifyOf(late, providerPaymentId)).kind).toBe('applied')
    expect(await ledger()).toStrictEqual(CREDITED)
  })

  it.each([undefined, TIMED_OUT])(
    'succeeds after the lease; the late attempt replays the payment: %j',
    async (lateResult) => {
      const { deps, creating, answer, providerPaymentId, notify, suspenseItem, ledger } =
        await paidOvo()
      deps.clock.advance(31)

      expect((await notify()).kind).toBe('applied')
      answer.resolve(lateResult)

      const credited = { status: 'succeeded', capture: { providerPaymentId } }
      expect((await creating).payment).toMatchObject(credited)
      expect(await ledger()).toStrictEqual(CREDITED)
      expect(await suspenseItem()).toBeUndefined()
    },
  )

  it('delays a second push until due work has checked the first push, even while the provider lists no row', async () => {
    const { deps, make, creates, notify } = await paidOvo()
    await notify()
    deps.clock.advance(90)

    await expect(make()).rejects.toThrow('reports money for an earlier push')

    expect(creates()).toBe(1)
  })
})

it.each([
  [250, 4],
  [249, 1],
])(
  'a commit (design section 4, Create, step 5) is retried only while time is left: %i ms left, tries: %i',
  async (leftMs, tries) => {
    const creatingFields = {
      attempt: 1,
      leaseUntil: undefined,
      providerAttempts: [],
      mayExistUpstream: false,
    }
    const { deps, creating } = await aCreating(creatingFields)
    const upstream = {
      paymentRequestId: 'pr-1',
      destination: '123',
      expiresAt: addMs(deps.now(), 86_400_000),
    }
    const { deps: recorded, calls } = recordTable(failingOn(deps, 'transact', 'before'))

    const committed = commitAttempt(recorded, creating, upstream, { remainingMs: () => leftMs })

    await expect(committed).rejects.toThrow('cannot be reached')
    expect(calls.filter(({ name }) => name === 'transact')).toHaveLength(tries)
  },
)
