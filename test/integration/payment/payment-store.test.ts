import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { PaymentIdSchema } from '../../../shared/ids.ts'
import { claimTakeover, releaseAttempt, rememberCapture } from '../../../shared/payment/attempt-store.ts'
import { claimPayment, commitPending, commitSucceeded } from '../../../shared/payment/creating-store.ts'
import { newPayment } from '../../../shared/payment/new-payment.ts'
import type { CreatingPayment, Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { put, type Step } from '../../../shared/table/step.ts'
import { addMs, epochMs, type Timestamp } from '../../../shared/time.ts'
import { aCreating, LEASE_MS } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const DAY_MS = 86_400_000

const visible = (deps: TestDeps, creating: CreatingPayment): Payment =>
  newPayment(
    creating,
    { paymentRequestId: 'pr-1', destination: '123' },
    { createdAt: deps.now(), expiresAt: addMs(deps.now(), DAY_MS) },
  )

const stored = (deps: TestDeps, { paymentId }: Pick<Payment, 'paymentId'>) => findStoredPayment(deps, paymentId)
const transact = (deps: TestDeps, payment: Step) => deps.table.transact({ payment })

type Write = (deps: TestDeps, creating: CreatingPayment) => Promise<{ readonly applied: boolean }>

const takeOver = (deps: TestDeps, creating: CreatingPayment, attempt: number, now: Timestamp) =>
  claimTakeover(deps, { read: creating, taken: { ...creating, attempt } }, now)

describe('what is written to a payment that is being created', () => {
  const [free, over] = [{ leaseUntil: undefined }, { leaseUntil: testDeps().now() }]
  const asFirst = (deps: TestDeps, creating: CreatingPayment) => visible(deps, { ...creating, attempt: 1 })

  it.each<[string, Partial<CreatingPayment>, Write]>([
    [
      'a take-over, a millisecond before the lease is over',
      {},
      (deps, row) => takeOver(deps, row, 3, addMs(deps.now(), LEASE_MS - 1)),
    ],
    [
      'a take-over by an attempt that another caller has taken',
      over,
      (deps, row) => takeOver(deps, row, 2, deps.now()),
    ],
    [
      'the end of an attempt that another one took over',
      {},
      (deps, row) => releaseAttempt(deps, { ...row, attempt: 1 }, { failure: 'too late', providerAttempts: [] }),
    ],
    ['the commit of such an attempt', free, (deps, row) => transact(deps, commitPending(asFirst(deps, row)))],
    [
      'the commit of such an attempt, which was paid',
      free,
      (deps, row) => transact(deps, commitSucceeded(asFirst(deps, row), deps.now())),
    ],
    [
      'the commit of a success while the attempt still runs',
      {},
      (deps, row) => transact(deps, commitSucceeded(visible(deps, row), addMs(deps.now(), LEASE_MS - 1))),
    ],
  ])('is not %s', async (_, fields, write) => {
    const { deps, creating } = await aCreating(fields)
    const before = await stored(deps, creating)

    expect((await write(deps, creating)).applied).toBe(false)
    expect(await stored(deps, creating)).toEqual(before)
  })

  it.each<[string, Write]>([
    ['a take-over', (deps, row) => takeOver(deps, row, 3, addMs(deps.now(), DAY_MS))],
    [
      'another commit',
      (deps, row) => transact(deps, commitPending({ ...visible(deps, row), paymentDestination: '4' })),
    ],
    ['a commit that was paid', (deps, row) => transact(deps, commitSucceeded(visible(deps, row), deps.now()))],
    ['a failure', (deps, row) => releaseAttempt(deps, row, { failure: 'x', providerAttempts: [] })],
    ['a capture to remember, which is applied instead', (deps, row) => rememberCapture(deps, row, 'py-1', deps.now())],
  ])('is not %s once the payment is there', async (_, write) => {
    const { deps, creating } = await aCreating(free)
    const payment = visible(deps, creating)
    await transact(deps, commitPending(payment))

    expect((await write(deps, creating)).applied).toBe(false)
    expect(await stored(deps, creating)).toEqual(payment)
  })
})

describe('claimTakeover', () => {
  it.each([
    ['over', (deps: TestDeps) => deps.clock.advance(30), {}],
    ['released', () => undefined, { leaseUntil: undefined, failure: 'the provider did not answer' }],
  ] as const)('takes the next attempt once the lease is %s, and forgets the failure', async (_case, pass, fields) => {
    const { deps, creating } = await aCreating(fields)
    pass(deps)
    const next = { ...creating, attempt: 3, leaseUntil: addMs(deps.now(), LEASE_MS), failure: undefined }

    const { applied } = await claimTakeover(deps, { read: creating, taken: next }, deps.now())

    expect(applied).toBe(true)
    expect(await stored(deps, creating)).toEqual(next)
  })

  it('is refused when the attempt before has written down how it ended since it was read', async () => {
    const { deps, creating } = await aCreating()
    deps.clock.advance(31)
    const ended = { number: 2, startedAt: deps.now(), outcome: 'unknown', paymentRequestId: 'pr-1' } as const
    const providerAttempts = [ended]
    await releaseAttempt(deps, creating, { failure: 'the payment could not be stored', providerAttempts })

    expect((await takeOver(deps, creating, 3, deps.now())).applied).toBe(false)
    expect(await stored(deps, creating)).toMatchObject({ attempt: 2, providerAttempts })
  })

  it('is refused when a capture was remembered since it was read, and leaves it due when it knows', async () => {
    const { deps, creating } = await aCreating({ leaseUntil: undefined })
    const taken = { ...creating, attempt: 3, dueAt: addMs(deps.now(), DAY_MS) }
    await rememberCapture(deps, creating, 'py-1', deps.now())
    const knowing = { ...taken, rememberedProviderPaymentIds: new Set(['py-1']) }

    const unaware = await claimTakeover(deps, { read: creating, taken }, deps.now())
    const aware = await claimTakeover(deps, { read: creating, taken: knowing }, deps.now())

    expect([unaware.applied, aware.applied]).toStrictEqual([false, true])
    expect(await stored(deps, creating)).toEqual({ ...knowing, dueAt: deps.now() })
  })
})

describe('claimPayment', () => {
  const LONG_AFTER = 90 * 86_400

  it.each([
    ['refused for good long ago', true, LONG_AFTER, true],
    ['refused for good a second less ago', true, LONG_AFTER - 1, false],
    ['that may exist upstream, however long ago', false, 10 * LONG_AFTER, false],
  ])('takes the place of a create %s: %s', async (_case, forgettable, seconds, takesIt) => {
    const { deps, creating } = await aCreating()
    await releaseAttempt(deps, creating, { failure: 'refused', providerAttempts: [], forgettable })
    deps.clock.advance(seconds)
    const anew = { ...creating, attempt: 1, claimedAt: deps.now() }

    const found = await stored(deps, creating)
    const { applied } = await claimPayment(deps, anew)

    expect([applied, found === undefined]).toStrictEqual([takesIt, takesIt])
    expect(await stored(deps, creating)).toMatchObject({ attempt: takesIt ? 1 : 2 })
  })
})

describe('releaseAttempt', () => {
  it('leaves nothing due, except for a capture that came meanwhile: that is kept, and due, and never forgotten', async () => {
    const { deps, creating } = await aCreating({ dueAt: addMs(testDeps().now(), 60_000) })
    const ended = { failure: 'refused', providerAttempts: [], forgettable: true }

    await rememberCapture(deps, creating, 'py-1', deps.now())
    const { applied } = await releaseAttempt(deps, creating, ended)

    const { forgettable: _, ...kept } = ended
    const remembering = { rememberedProviderPaymentIds: new Set(['py-1']), dueAt: deps.now(), leaseUntil: undefined }
    expect(applied).toBe(true)
    expect(await stored(deps, creating)).toEqual({ ...creating, ...remembering, ...kept })
    const released = await aCreating({ dueAt: deps.now() })
    await releaseAttempt(released.deps, released.creating, ended)
    expect(await stored(released.deps, released.creating)).not.toHaveProperty('dueAt')
  })
})

describe('a commit', () => {
  it('is refused until it carries on a capture that was remembered meanwhile', async () => {
    const { deps, creating } = await aCreating()
    await rememberCapture(deps, creating, 'py-1', deps.now())
    const payment = visible(deps, creating)
    const carrying = { ...payment, rememberedProviderPaymentIds: new Set(['py-1']), dueAt: deps.now() }

    const without = await transact(deps, commitPending(payment))
    const withIt = await transact(deps, commitPending(carrying))

    expect([without.applied, withIt.applied]).toStrictEqual([false, true])
    expect(await stored(deps, creating)).toEqual(carrying)
  })
})

describe('a row whose ttl', () => {
  it.each([
    ['has passed is not found, deleted or not', 0, false],
    ['passes in a second is there', 1, true],
  ])('%s', async (_case, seconds, isThere) => {
    const deps = testDeps()
    const key = paymentKey(v.parse(PaymentIdSchema, deps.newId()))
    await deps.table.write(put(key, { ttl: epochMs(deps.now()) / 1_000 + seconds }))

    const found = [await deps.table.get(key), ...(await deps.table.getMany([key]))]

    expect(found.map((item) => item !== undefined)).toStrictEqual([isThere, isThere])
  })
})
