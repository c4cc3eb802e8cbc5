/**
 * Goal: a caller that waits for another caller's attempt takes over only what the provider was
 * never asked for, and one key keeps one payment whatever dies. Method: the first caller's claim is
 * stored, but its answer comes after eleven seconds, too late for a provider call. Other callers
 * wait meanwhile, and are stopped before and after each of their requests to the table.
 */
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../shared/errors.ts'
import { minor } from '../../../shared/money.ts'
import type { PaymentRequest } from '../../../shared/payment/payment.ts'
import type { CreateAnswer } from '../../../shared/provider/provider.ts'
import { ONE_PENDING, OVO_REQUEST, TIMED_OUT } from '../../support/payment-builders.ts'
import { afterFirst, beforeFirst, interceptTable, type TestDeps } from '../../support/test-deps.ts'
import { aCreate } from '../payment/payment-test.ts'

const TOO_LATE = 'the request took too long before the provider was asked'

/**
 * A first caller that is left no time for its provider call, and callers that wait for it. They
 * begin `secondsBefore` the first caller's attempt ends.
 */
async function aLateCreate({ fields = {}, waiters = 1, secondsBefore = 0 } = {}) {
  const scene = await aCreate(fields)
  const { deps, make } = scene
  const ended = Promise.withResolvers<void>()
  let idle = 0
  const sleep = async (ms: number) => {
    idle++
    await ended.promise
    await scene.deps.clock.sleep(ms)
  }
  const waiting: ReturnType<typeof make>[] = []
  /** Each caller has its own table. */
  const waitFor = async (...callers: readonly TestDeps[]) => {
    const late = afterFirst(deps, 'put', async () => {
      deps.clock.advance(11 - secondsBefore)
      for (const caller of callers) {
        const made = make({ ...caller, sleep })
        made.catch(() => idle++)
        waiting.push(made)
      }
      await expect.poll(() => idle).toBe(callers.length)
      deps.clock.advance(secondsBefore)
    })
    await expect(make(late)).rejects.toThrow(TOO_LATE)
    expect(scene.creates()).toBe(0)
    ended.resolve()
    return Promise.allSettled(waiting)
  }
  return { ...scene, waitFor, many: Array<TestDeps>(waiters).fill(deps) }
}

function outcomeOf(result: PromiseSettledResult<{ readonly outcome: string }>) {
  return result.status === 'fulfilled' ? result.value.outcome : String(result.reason)
}

describe('a caller that waits for an attempt which ended before it called the provider', () => {
  it.each([
    [1, {}],
    [1, OVO_REQUEST],
    [20, {}],
  ])(
    'takes the payment over at once and alone: of %i waiting callers one creates it, the others replay it: %j',
    async (waiters, fields) => {
      const { waitFor, many, reread, creates, statuses, ledger } = await aLateCreate({
        waiters,
        fields,
      })

      const results = await waitFor(...many)

      expect(results.map(outcomeOf).toSorted()).toStrictEqual([
        ...Array<string>(waiters - 1).fill('replayed'),
        'resumed',
      ])
      expect(await reread()).toMatchObject({
        status: 'pending',
        attempt: 2,
        providerAttempts: [
          { outcome: 'not_executed', code: 'no_time_left' },
          { outcome: 'created' },
        ],
      })
      expect([creates(), statuses()]).toStrictEqual([1, ['open']])
      expect(await ledger()).toStrictEqual(ONE_PENDING)
    },
  )

  it.each([
    ['has made the payment visible', 'replayed'],
    ['runs an attempt that fails', 'did not answer'],
  ])('is refused the takeover when another caller was first and %s', async (what, outcome) => {
    const { deps, make, waitFor, creates, reread } = await aLateCreate()
    const answer = Promise.withResolvers<CreateAnswer>()
    let other: Promise<unknown> | undefined
    const overtaken = beforeFirst(deps, 'update', async () => {
      if (what !== 'has made the payment visible')
        deps.provider.script('createRequest', () => answer.promise)
      other = make().catch(() => undefined)
      await expect.poll(creates).toBe(1)
      if (what === 'has made the payment visible') await other
      else setImmediate(() => answer.resolve(TIMED_OUT))
    })

    const [result] = await waitFor(overtaken)
    await other

    expect(result && outcomeOf(result)).toContain(outcome)
    expect(creates()).toBe(1)
    expect(await reread()).toMatchObject({ attempt: 2 })
  })

  it('answers the failure when too little time is left for a call; the next request takes over', async () => {
    const { deps, make, waitFor, creates } = await aLateCreate({ secondsBefore: 10.001 })

    const [result] = await waitFor(deps)

    expect(result && outcomeOf(result)).toContain(TOO_LATE)
    expect(creates()).toBe(0)
    expect((await make()).outcome).toBe('resumed')
  })

  it('leaves one payment to the next request, wherever the waiting caller dies', async () => {
    const ends: string[] = []
    for (let at = 0; at < 40 && ends.at(-1) !== 'resumed'; at++) {
      const { deps, make, waitFor, reread, statuses, ledger } = await aLateCreate()
      let requests = 0
      // An even place dies before a request, an odd place after it. A dead process sends no more.
      const dieFrom = (place: number) => {
        if (place >= at) throw new Error('the process died')
      }
      const dying = interceptTable(deps, {
        before: () => dieFrom(requests++ * 2),
        after: () => dieFrom(requests * 2 - 1),
      })

      const [result] = await waitFor(dying)
      ends.push(result ? outcomeOf(result) : 'none')
      deps.clock.advance(31)
      const next = await make()

      expect([at, next.payment.status]).toStrictEqual([at, 'pending'])
      expect(await reread()).toEqual(next.payment)
      expect(deps.provider.requestOf(next.payment.paymentRequestId).status).toBe('open')
      // A request whose process died before its commit is known to no process.
      expect([at, statuses().length <= 2]).toStrictEqual([at, true])
      expect(await ledger()).toStrictEqual(ONE_PENDING)
    }

    expect(ends.length).toBeGreaterThan(6)
    expect(ends.at(-1)).toBe('resumed')
  })
})

describe('a caller that waits for an attempt which called the provider', () => {
  const TOO_LITTLE = { notionalMinor: minor(5_000) }

  it.each<[CreateAnswer, Partial<PaymentRequest>]>([
    [TIMED_OUT, {}],
    [{ kind: 'refused', code: 'INVALID_VALUE_ERROR' }, {}],
    // The provider answered 429, or no connection was made.
    [{ kind: 'not_executed', reason: 'RATE_LIMIT_EXCEEDED' }, {}],
    // A 422 for the request's own fault.
    [{ kind: 'refused', code: 'INVALID_VALUE_ERROR' }, TOO_LITTLE],
    [
      { kind: 'refused', code: 'INVALID_MERCHANT_SETTINGS', isNotActivated: true },
      { method: 'ewallet', channelCode: 'NEWPAY' },
    ],
    // A 500 for our fault, although the amount is outside the channel's limits.
    [{ kind: 'refused', code: 'INVALID_API_KEY', isAccountWide: true }, TOO_LITTLE],
  ])(
    'answers its failure, and only a new request takes over: %o of %o',
    async (failure, fields) => {
      const { deps, make, creates } = await aCreate(fields)
      const answer = Promise.withResolvers<CreateAnswer>()
      deps.provider.script('createRequest', () => answer.promise)
      const errorOf = (made: ReturnType<typeof make>) => made.catch((error: unknown) => error)
      const first = errorOf(make())
      await expect.poll(creates).toBe(1)
      const slept = Promise.withResolvers<void>()
      const waiting = errorOf(
        make({
          ...deps,
          sleep: (ms) => {
            slept.resolve()
            return new Promise((resolve) => setTimeout(resolve, Math.min(ms, 5)))
          },
        }),
      )
      await slept.promise

      answer.resolve(failure)

      expect(envelopeOf(await waiting)).toStrictEqual(envelopeOf(await first))
      expect(creates()).toBe(1)
      deps.provider.heal('createRequest')
      expect((await make()).payment).toMatchObject({ status: 'pending', attempt: 2 })
    },
  )
})

function envelopeOf(error: unknown) {
  if (!(error instanceof GatewayError)) throw error
  const { code, message, details } = error
  return { code, message, details }
}
