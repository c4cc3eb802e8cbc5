/**
 * Goal: a payment past its time is `expired`, with its event, whoever tried to cancel it before; `cancelled` only when
 * the provider had cancelled it at its merchant's request before our own expiry began. Method: each order of what
 * merchant, due work and provider do, and a death at each of their calls; then due work goes on until nothing is due.
 */
import { describe, expect, it } from 'vitest'
import { cancelPayment } from '../../shared/payment/cancel-payment.ts'
import { checkDuePayment } from '../../shared/payment/check-due-payment.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import { findStoredPayment, noteExpiryStarted } from '../../shared/payment/payment-store.ts'
import type { CancelAnswer } from '../../shared/provider/provider.ts'
import { findSuspense } from '../../shared/suspense/suspense-store.ts'
import { addMs, later } from '../../shared/time.ts'
import { type CrashPoint, crashingAt, ProcessDied } from '../support/crash-points.ts'
import { interceptTable } from '../support/intercept-table.ts'
import { ledgerView } from '../support/ledger-view.ts'
import { eventOf } from '../support/paid-payment.ts'
import { aPendingPayment, aStoredClient } from '../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../support/test-deps.ts'

const LIFETIME_S = 600
const SILENCE: CancelAnswer = { kind: 'unanswered', reason: 'unreachable' }
const EXPIRED = 'payment cannot be cancelled in status=expired'

/** A QRIS payment, whose time is ours to enforce, and what can happen to its cancels. */
const aQris = async () => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const request = { method: 'qris', channelCode: undefined, expiresInSeconds: LIFETIME_S } as const
  const payment = await aPendingPayment(deps, client, request)
  const doneUpstream = (id: string): CancelAnswer => {
    if (deps.provider.requests.get(id)?.status !== 'open') return { kind: 'final' }
    deps.provider.close(id, 'cancelled')
    return { kind: 'cancelled' }
  }
  return {
    deps,
    client,
    payment,
    cancel: (as: TestDeps = deps) => cancelPayment(as, { clientId: client.clientId, id: payment.paymentId }),
    check: async (as: TestDeps = deps) => checkDuePayment(as, await due(deps, payment)),
    /** No cancel reaches the provider. */
    cutOff: () => deps.provider.script('cancelRequest', async () => SILENCE),
    /** The provider cancels, and nobody hears of it. */
    loseAnswers: () => deps.provider.script('cancelRequest', async (id) => (doneUpstream(id), SILENCE)),
    /** Something happens while the provider's answer is on its way. */
    meanwhile: (act: () => Promise<unknown>) =>
      deps.provider.script('cancelRequest', async (id) => {
        const answer = doneUpstream(id)
        await act()
        return answer
      }),
    heal: () => deps.provider.script('cancelRequest', async (id) => doneUpstream(id)),
    passTime: () => deps.clock.advance(LIFETIME_S),
  }
}

const current = async (deps: TestDeps, { paymentId }: Payment): Promise<Payment> => {
  const stored = await findStoredPayment(deps, paymentId)
  if (stored === undefined || stored.status === 'creating') throw new Error('the payment is not visible')
  return stored
}

const due = async (deps: TestDeps, payment: Payment) => {
  const { paymentId, dueAt = deps.now() } = await current(deps, payment)
  deps.clock.set(later(dueAt, deps.now()))
  return { paymentId, dueAt }
}

/** Due work, as often as it takes. */
const rest = async (deps: TestDeps, payment: Payment): Promise<Payment> => {
  for (let check = 0; check < 20; check++) {
    const stored = await current(deps, payment)
    if (stored.status !== 'pending') return stored
    await checkDuePayment(deps, await due(deps, payment))
  }
  throw new Error('the payment does not come to rest')
}

const expectExpired = async (deps: TestDeps, payment: Payment) => {
  expect(await current(deps, payment)).toMatchObject({ status: 'expired' })
  expect(await eventOf(deps, payment, 'payment.expired')).toMatchObject({ entity: 'event' })
  expect(await ledgerView(deps, payment.clientId)).toStrictEqual({ pendingMinor: 0, expired: 1 })
}

const expectCancelled = async (deps: TestDeps, payment: Payment) => {
  expect(await current(deps, payment)).toMatchObject({ status: 'cancelled' })
  expect(await current(deps, payment)).not.toHaveProperty('expiryStartedAt')
  expect(await eventOf(deps, payment, 'payment.expired')).toBeUndefined()
  expect(await ledgerView(deps, payment.clientId)).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
}

describe('a payment past its time', () => {
  it('is expired, with its event, also when somebody tried to cancel it before and was answered 502', async () => {
    const { deps, payment, cancel, cutOff, heal, passTime } = await aQris()
    cutOff()
    await expect(cancel()).rejects.toMatchObject({ code: 'network' })
    heal()
    passTime()

    await rest(deps, payment)

    await expectExpired(deps, payment)
    expect(deps.provider.requests.get(payment.paymentRequestId)?.status).toBe('cancelled')
  })

  it('is cancelled upstream without a question first, after its expiry was noted', async () => {
    const { deps, payment, check, meanwhile, passTime } = await aQris()
    passTime()
    let noted: Payment | undefined
    meanwhile(async () => {
      noted = await current(deps, payment)
    })

    await check()

    expect(noted).toMatchObject({ status: 'pending', expiryStartedAt: deps.now() })
    expect([deps.provider.countOf('getRequest'), deps.provider.countOf('cancelRequest')]).toStrictEqual([0, 1])
    await expectExpired(deps, payment)
  })

  it('is cancelled when the provider had cancelled it at its merchant’s request before our expiry began', async () => {
    const { deps, payment, cancel, loseAnswers, heal, passTime } = await aQris()
    loseAnswers()
    await expect(cancel()).rejects.toMatchObject({ code: 'network' })
    heal()
    passTime()

    await rest(deps, payment)

    await expectCancelled(deps, payment)
  })

  it('is expired when its merchant’s cancel reached the provider only behind the start of our expiry', async () => {
    const { deps, payment, cancel, check, cutOff, heal, passTime } = await aQris()
    cutOff()
    await expect(cancel()).rejects.toMatchObject({ code: 'network' })
    passTime()
    await check()
    deps.provider.close(payment.paymentRequestId, 'cancelled')
    heal()

    await rest(deps, payment)

    await expectExpired(deps, payment)
  })

  it('succeeds when it was paid, whoever tried to cancel it', async () => {
    const { deps, payment, cancel, cutOff, heal, passTime } = await aQris()
    cutOff()
    await expect(cancel()).rejects.toMatchObject({ code: 'network' })
    deps.provider.pay(payment.paymentRequestId)
    heal()
    passTime()

    expect(await rest(deps, payment)).toMatchObject({ status: 'succeeded' })
  })

  it('stays pending while nobody can say what became of its merchant’s cancel, and its expiry does not begin', async () => {
    const { deps, payment, cancel, check, cutOff, passTime } = await aQris()
    cutOff()
    await expect(cancel()).rejects.toMatchObject({ code: 'network' })
    deps.provider.script('getRequest', async () => ({ kind: 'unanswered', reason: 'unreachable' }))
    passTime()

    expect(await check()).toBe('unanswered')

    expect(await current(deps, payment)).toMatchObject({ status: 'pending' })
    expect(await current(deps, payment)).not.toHaveProperty('expiryStartedAt')
  })
})

describe('a cancel whose answer was lost', () => {
  it('is looked at within a minute, and ends as cancelled when the provider has done it', async () => {
    const { deps, payment, cancel, loseAnswers } = await aQris()
    loseAnswers()

    await expect(cancel()).rejects.toMatchObject({ code: 'network' })

    const { dueAt = '' } = await current(deps, payment)
    expect(dueAt > deps.now() && dueAt <= addMs(deps.now(), 60_000)).toBe(true)
    await rest(deps, payment)
    await expectCancelled(deps, payment)
  })

  it('leaves the payment pending when the provider has not', async () => {
    const { deps, payment, cancel, check, cutOff } = await aQris()
    cutOff()
    await expect(cancel()).rejects.toMatchObject({ code: 'network' })

    expect(await check()).toBe('checked')

    expect(await current(deps, payment)).toMatchObject({ status: 'pending' })
  })

  it('does not put off a payment that is due before', async () => {
    const { deps, payment, cancel, cutOff } = await aQris()
    const { dueAt = deps.now() } = payment
    deps.clock.set(addMs(dueAt, -1))
    cutOff()

    await expect(cancel()).rejects.toMatchObject({ code: 'network' })

    expect(await current(deps, payment)).toMatchObject({ dueAt })
  })
})

describe('a POST of its cancel after expires_at', () => {
  it('acts as the expiry: 422 with status=expired, and the event', async () => {
    const { deps, payment, cancel, passTime } = await aQris()
    passTime()

    await expect(cancel()).rejects.toMatchObject({ code: 'validation', message: EXPIRED })

    await expectExpired(deps, payment)
    expect(await current(deps, payment)).not.toHaveProperty('cancelRequestedAt')
    expect(deps.provider.requests.get(payment.paymentRequestId)?.status).toBe('cancelled')
  })

  it('answers 200 when an earlier one was lost behind the provider', async () => {
    const { deps, payment, cancel, loseAnswers, heal, passTime } = await aQris()
    loseAnswers()
    await expect(cancel()).rejects.toMatchObject({ code: 'network' })
    heal()
    passTime()

    expect(await cancel()).toMatchObject({ status: 'cancelled' })

    await expectCancelled(deps, payment)
  })

  it('is refused by the success when the customer had paid', async () => {
    const { deps, payment, cancel, passTime } = await aQris()
    deps.provider.pay(payment.paymentRequestId)
    passTime()

    await expect(cancel()).rejects.toThrow('payment cannot be cancelled in status=succeeded')
  })

  it.each([
    ['unreachable', 'network'],
    ['rate_limited', 'server_error'],
  ] as const)('answers 502 while the provider is %s, and leaves the payment due at once', async (reason, code) => {
    const { deps, payment, cancel, heal, passTime } = await aQris()
    deps.provider.script('cancelRequest', async () => ({ kind: 'unanswered', reason }))
    passTime()

    await expect(cancel()).rejects.toMatchObject({ code })

    expect(await current(deps, payment)).toMatchObject({ status: 'pending', dueAt: deps.now() })
    heal()
    await rest(deps, payment)
    await expectExpired(deps, payment)
  })

  it('expires with a finding what the provider does not know', async () => {
    const { deps, payment, cancel, passTime } = await aQris()
    deps.provider.script('cancelRequest', async () => ({ kind: 'not_found' }))
    passTime()

    await expect(cancel()).rejects.toThrow(EXPIRED)

    expect(await findSuspense(deps, `${payment.paymentId}#not_found_upstream`)).toMatchObject({ kind: 'finding' })
  })
})

describe('a cancel that meets the expiry', () => {
  it('is refused by it when it began while the provider’s answer was on its way', async () => {
    const { deps, payment, cancel, meanwhile } = await aQris()
    meanwhile(() => noteExpiryStarted(deps, payment.paymentId, deps.now()))

    await expect(cancel()).rejects.toThrow(EXPIRED)

    await expectExpired(deps, payment)
  })

  it('is refused by it when it began before its own note', async () => {
    const { deps, payment, cancel } = await aQris()
    let begun = false
    const raced = interceptTable(deps, {
      before: async ({ name }) => {
        if (begun || name !== 'UpdateCommand') return
        begun = true
        await noteExpiryStarted(deps, payment.paymentId, deps.now())
      },
    })

    await expect(cancel(raced)).rejects.toThrow(EXPIRED)

    expect(await current(deps, payment)).not.toHaveProperty('cancelRequestedAt')
    await expectExpired(deps, payment)
  })

  it('expires it once when both come at the same time', async () => {
    const { deps, payment, cancel, check, passTime } = await aQris()
    passTime()

    const [refused] = await Promise.allSettled([cancel(), check()])

    expect(refused).toMatchObject({ status: 'rejected', reason: { message: EXPIRED } })
    await expectExpired(deps, payment)
  })
})

describe('a death at every call', () => {
  type Scene = Awaited<ReturnType<typeof aQris>>
  type Flow = {
    readonly prepare: (scene: Scene) => unknown
    readonly run: (scene: Scene, as: TestDeps) => Promise<unknown>
  }

  const POINTS = Array.from({ length: 30 }, (_, at) => at + 1).flatMap((call): readonly CrashPoint[] => [
    { call, when: 'before' },
    { call, when: 'after' },
  ])

  /** Runs the flow once for every point it reaches, and lets due work go on behind each death. */
  const dyingEverywhere = async ({ prepare, run }: Flow, judge: (scene: Scene) => Promise<void>) => {
    let deaths = 0
    for (const point of POINTS) {
      const scene = await aQris()
      await prepare(scene)
      const dying = crashingAt(scene.deps, point)
      await run(scene, dying.deps).catch((error: unknown) => {
        if (!(error instanceof ProcessDied)) throw error
      })
      if (!dying.reached()) return deaths
      deaths++
      await judge(scene)
    }
    throw new Error('the flow makes more calls than that')
  }

  const tried = async ({ cancel, cutOff, heal }: Scene) => {
    cutOff()
    await expect(cancel()).rejects.toMatchObject({ code: 'network' })
    heal()
  }

  it.each<[string, Flow]>([
    ['of its expiry', { prepare: ({ passTime }) => passTime(), run: ({ check }, as) => check(as) }],
    [
      'of the expiry of one that somebody tried to cancel',
      { prepare: async (scene) => (await tried(scene), scene.passTime()), run: ({ check }, as) => check(as) },
    ],
    [
      'of a cancel past its time',
      { prepare: ({ passTime }) => passTime(), run: ({ cancel }, as) => cancel(as).catch(refusedOnly) },
    ],
  ])('%s leaves it expired, with its event', async (_name, flow) => {
    const deaths = await dyingEverywhere(flow, async ({ deps, payment }) => {
      await rest(deps, payment)
      await expectExpired(deps, payment)
    })

    expect(deaths).toBeGreaterThan(5)
  })

  it.each([
    ['before its time is over', 0],
    ['once its time is over', LIFETIME_S],
  ])('of a cancel leaves it cancelled exactly when the provider had done it, looked at %s', async (_when, seconds) => {
    const flow: Flow = { prepare: () => undefined, run: ({ cancel }, as) => cancel(as) }

    await dyingEverywhere(flow, async ({ deps, payment }) => {
      const done = deps.provider.requests.get(payment.paymentRequestId)?.status === 'cancelled'
      deps.clock.advance(seconds)
      await rest(deps, payment)
      await (done ? expectCancelled : expectExpired)(deps, payment)
    })
  })

  const refusedOnly = (error: unknown) => {
    if (error instanceof ProcessDied || !String(error).includes(EXPIRED)) throw error
  }
})
