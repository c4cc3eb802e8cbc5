import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { PaymentIdSchema } from '../../../shared/ids.ts'
import { claimPayment, claimTakeover, releaseAttempt, rememberCapture } from '../../../shared/payment/creating-store.ts'
import { newPayment } from '../../../shared/payment/new-payment.ts'
import type { CreatingPayment, Payment } from '../../../shared/payment/payment.ts'
import { commitPending, commitSucceeded, findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { put } from '../../../shared/table/step.ts'
import { addMs, epochMs } from '../../../shared/time.ts'
import { aCreating, LEASE_MS } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const visible = (deps: TestDeps, creating: CreatingPayment): Payment =>
  newPayment(
    creating,
    { paymentRequestId: 'pr-1', destination: '123' },
    { createdAt: deps.now(), expiresAt: addMs(deps.now(), 86_400_000) },
  )

const stored = (deps: TestDeps, { paymentId }: Pick<Payment, 'paymentId'>) => findStoredPayment(deps, paymentId)

describe('claimTakeover', () => {
  const takenOver = (creating: CreatingPayment, attempt: number): CreatingPayment => ({ ...creating, attempt })

  it.each([
    ['over', (deps: TestDeps) => deps.clock.advance(30), {}],
    ['released', () => undefined, { leaseUntil: undefined, failure: 'the provider did not answer' }],
  ] as const)('takes the next attempt once the lease is %s, and forgets the failure', async (_case, pass, fields) => {
    const { deps, creating } = await aCreating(fields)
    pass(deps)
    const next = { ...takenOver(creating, 3), leaseUntil: addMs(deps.now(), LEASE_MS), failure: undefined }

    const { applied } = await claimTakeover(deps, { read: creating, taken: next }, deps.now())

    expect(applied).toBe(true)
    expect(await stored(deps, creating)).toEqual(next)
  })

  it('is refused a millisecond before the lease is over', async () => {
    const { deps, creating } = await aCreating()

    const { applied } = await claimTakeover(
      deps,
      { read: creating, taken: takenOver(creating, 3) },
      addMs(deps.now(), LEASE_MS - 1),
    )

    expect(applied).toBe(false)
    expect(await stored(deps, creating)).toEqual(creating)
  })

  it('is refused when another caller has taken that attempt', async () => {
    const { deps, creating } = await aCreating()
    deps.clock.advance(31)

    const { applied } = await claimTakeover(deps, { read: creating, taken: takenOver(creating, 2) }, deps.now())

    expect(applied).toBe(false)
  })

  it('is refused when the attempt before has written down how it ended since it was read', async () => {
    const { deps, creating } = await aCreating()
    deps.clock.advance(31)
    const providerAttempts = [
      { number: 2, startedAt: deps.now(), outcome: 'unknown', paymentRequestId: 'pr-1' },
    ] as const
    await releaseAttempt(deps, creating, { failure: 'the payment could not be stored', providerAttempts })

    const { applied } = await claimTakeover(deps, { read: creating, taken: takenOver(creating, 3) }, deps.now())

    expect(applied).toBe(false)
    expect(await stored(deps, creating)).toMatchObject({ attempt: 2, providerAttempts })
  })

  it('is refused once the payment is there', async () => {
    const { deps, creating } = await aCreating()
    const payment = visible(deps, creating)
    await deps.table.transact({ payment: commitPending(payment) })

    const { applied } = await claimTakeover(
      deps,
      { read: creating, taken: takenOver(creating, 3) },
      addMs(deps.now(), 86_400_000),
    )

    expect(applied).toBe(false)
    expect(await stored(deps, creating)).toEqual(payment)
  })

  it('is refused when a capture was remembered since it was read, and leaves it due when it knows', async () => {
    const { deps, creating } = await aCreating({ leaseUntil: undefined })
    const taken = { ...takenOver(creating, 3), dueAt: addMs(deps.now(), 86_400_000) }
    await rememberCapture(deps, creating, 'py-1', deps.now())

    const unaware = await claimTakeover(deps, { read: creating, taken }, deps.now())
    const rememberedProviderPaymentIds = new Set(['py-1'])
    const aware = await claimTakeover(
      deps,
      { read: creating, taken: { ...taken, rememberedProviderPaymentIds } },
      deps.now(),
    )

    expect([unaware.applied, aware.applied]).toStrictEqual([false, true])
    expect(await stored(deps, creating)).toEqual({ ...taken, rememberedProviderPaymentIds, dueAt: deps.now() })
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

    const remembering = { rememberedProviderPaymentIds: new Set(['py-1']), dueAt: deps.now() }
    expect(applied).toBe(true)
    expect(await stored(deps, creating)).toEqual({
      ...creating,
      ...remembering,
      failure: 'refused',
      providerAttempts: [],
      leaseUntil: undefined,
    })
    const released = await aCreating({ dueAt: deps.now() })
    await releaseAttempt(released.deps, released.creating, ended)
    expect(await stored(released.deps, released.creating)).not.toHaveProperty('dueAt')
  })

  it('is refused for an attempt that another one took over', async () => {
    const { deps, creating } = await aCreating()

    const ended = { failure: 'too late', providerAttempts: [] }
    const { applied } = await releaseAttempt(deps, { ...creating, attempt: 1 }, ended)

    expect(applied).toBe(false)
    expect(await stored(deps, creating)).toEqual(creating)
  })
})

describe.each([
  ['commitPending', (payment: Payment) => commitPending(payment)],
  ['commitSucceeded', (payment: Payment, deps: TestDeps) => commitSucceeded(payment, deps.now())],
] as const)('%s', (_name, step) => {
  it('is refused once the payment is there', async () => {
    const { deps, creating } = await aCreating({ leaseUntil: undefined })
    const payment = visible(deps, creating)
    await deps.table.transact({ payment: commitPending(payment) })

    const { applied } = await deps.table.transact({ payment: step({ ...payment, paymentDestination: '456' }, deps) })

    expect(applied).toBe(false)
    expect(await stored(deps, creating)).toEqual(payment)
  })

  it('is refused for an attempt that another one took over', async () => {
    const { deps, creating } = await aCreating({ leaseUntil: undefined })

    const { applied } = await deps.table.transact({ payment: step(visible(deps, { ...creating, attempt: 1 }), deps) })

    expect(applied).toBe(false)
    expect(await stored(deps, creating)).toEqual(creating)
  })
})

describe('commitPending and a capture remembered meanwhile', () => {
  it('is refused until it carries the capture on', async () => {
    const { deps, creating } = await aCreating()
    await rememberCapture(deps, creating, 'py-1', deps.now())
    const payment = visible(deps, creating)
    const carrying = { ...payment, rememberedProviderPaymentIds: new Set(['py-1']), dueAt: deps.now() }

    const without = await deps.table.transact({ payment: commitPending(payment) })
    const withIt = await deps.table.transact({ payment: commitPending(carrying) })

    expect([without.applied, withIt.applied]).toStrictEqual([false, true])
    expect(await stored(deps, creating)).toEqual(carrying)
  })
})

describe('commitSucceeded', () => {
  it('is refused while the attempt still runs', async () => {
    const { deps, creating } = await aCreating()
    const payment = visible(deps, creating)

    const early = await deps.table.transact({ payment: commitSucceeded(payment, addMs(deps.now(), LEASE_MS - 1)) })
    const late = await deps.table.transact({ payment: commitSucceeded(payment, addMs(deps.now(), LEASE_MS)) })

    expect([early.applied, late.applied]).toStrictEqual([false, true])
  })
})

describe('rememberCapture', () => {
  it('is refused once the payment is there: the capture is applied instead', async () => {
    const { deps, creating } = await aCreating()
    const payment = visible(deps, creating)
    await deps.table.transact({ payment: commitPending(payment) })

    const { applied } = await rememberCapture(deps, creating, 'py-1', deps.now())

    expect(applied).toBe(false)
    expect(await stored(deps, creating)).toEqual(payment)
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
