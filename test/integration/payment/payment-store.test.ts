import { describe, expect, it } from 'vitest'
import { eraseFromRequest } from '../../../shared/inquiry/erase-store.ts'
import {
  claimPayment,
  claimTakeover,
  commitPending,
  commitSucceeded,
  releaseAttempt,
  rememberCapture,
} from '../../../shared/payment/creating-store.ts'
import { newPayment } from '../../../shared/payment/new-payment.ts'
import type { CreatingPayment, Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { type Step } from '../../../shared/table/step.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { aCreating, LEASE_MS } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

function visible(deps: TestDeps, creating: CreatingPayment): Payment {
  const times = { createdAt: deps.now(), expiresAt: addMs(deps.now(), DAY_MS) }
  return newPayment(creating, { paymentRequestId: 'pr-1', destination: '123' }, times)
}

function stored(deps: TestDeps, { paymentId }: Pick<Payment, 'paymentId'>) {
  return findStoredPayment(deps, paymentId)
}
function transact(deps: TestDeps, payment: Step) {
  return deps.table.transact({ payment })
}

/** A write by a caller that read this, so many milliseconds after now. */
type Write = (
  deps: TestDeps,
  read: CreatingPayment,
  afterMs?: number,
) => Promise<{ readonly applied: boolean }>

function takeOver(
  deps: TestDeps,
  read: CreatingPayment,
  afterMs: number = 0,
): Promise<{ readonly applied: boolean }> {
  return claimTakeover(deps, { read, taken: { ...read, attempt: 3 } }, addMs(deps.now(), afterMs))
}
function takeSecond(deps: TestDeps, read: CreatingPayment): Promise<{ readonly applied: boolean }> {
  return claimTakeover(deps, { read, taken: read }, deps.now())
}
function fail(deps: TestDeps, read: CreatingPayment): Promise<{ readonly applied: boolean }> {
  return releaseAttempt(deps, read, { failure: 'x', providerAttempts: [] })
}
function commit(deps: TestDeps, read: CreatingPayment): Promise<{ readonly applied: boolean }> {
  return transact(deps, commitPending(visible(deps, read)))
}
function succeed(
  deps: TestDeps,
  read: CreatingPayment,
  afterMs: number = 0,
): Promise<{ readonly applied: boolean }> {
  return transact(deps, commitSucceeded(visible(deps, read), addMs(deps.now(), afterMs)))
}
function erase(
  deps: TestDeps,
  read: CreatingPayment,
  afterMs: number = 0,
): Promise<{ readonly applied: boolean }> {
  return transact(deps, eraseFromRequest(read, addMs(deps.now(), afterMs)))
}
function remember(deps: TestDeps, read: CreatingPayment): Promise<{ readonly applied: boolean }> {
  return rememberCapture(deps, read, 'py-1', deps.now())
}

const FREE = { leaseUntil: undefined }
const LAST_MS = LEASE_MS - 1
const REMEMBERED = { rememberedProviderPaymentIds: new Set(['py-1']) }

describe('a payment that is being created', () => {
  it.each<[string, attempt: number, Partial<CreatingPayment>, Write, afterMs?: number]>([
    ['a takeover one millisecond before the lease expires', 2, {}, takeOver, LAST_MS],
    [
      'a takeover with an attempt number that is already used',
      2,
      { leaseUntil: testDeps().now() },
      takeSecond,
    ],
    ['the failure of an attempt after a takeover', 1, {}, fail],
    ['the commit of an attempt after a takeover', 1, FREE, commit],
    ['the success of an attempt after a takeover', 1, FREE, succeed],
    ['the success during the lease of the attempt', 2, {}, succeed, LAST_MS],
    ['an erasure for an attempt after a takeover', 1, FREE, erase],
    ['an erasure during the lease of the attempt', 2, {}, erase, LAST_MS],
  ])('refuses %s', async (_, attempt, fields, write, afterMs) => {
    const { deps, creating } = await aCreating(fields)
    const before = await stored(deps, creating)

    expect((await write(deps, { ...creating, attempt }, afterMs)).applied).toBe(false)
    expect(await stored(deps, creating)).toEqual(before)
  })

  it.each<[string, Write]>([
    ['a takeover', takeOver],
    ['another commit', commit],
    ['a success', succeed],
    ['a failure', fail],
    ['an erasure from the request', erase],
    ['a capture to store, because it can be applied', remember],
  ])('refuses %s after its commit', async (_, write) => {
    const { deps, creating } = await aCreating(FREE)
    await commit(deps, creating)
    const before = await stored(deps, creating)

    expect((await write(deps, creating, DAY_MS)).applied).toBe(false)
    expect(before).toEqual(visible(deps, creating))
    expect(await stored(deps, creating)).toEqual(before)
  })
})

describe('claimTakeover', () => {
  it.each([
    ['expired', {}],
    ['released', { ...FREE, failure: 'the provider did not answer' }],
  ])(
    'starts the next attempt when the lease is %s, and removes the failure',
    async (_case, fields) => {
      const { deps, creating } = await aCreating(fields)
      if (creating.leaseUntil) deps.clock.set(creating.leaseUntil)
      const leaseUntil = addMs(deps.now(), LEASE_MS)
      const providerAttempts = [{ number: 3, startedAt: deps.now(), outcome: 'started' as const }]
      const taken = { ...creating, attempt: 3, leaseUntil, providerAttempts, failure: undefined }

      expect((await claimTakeover(deps, { read: creating, taken }, deps.now())).applied).toBe(true)
      expect(await stored(deps, creating)).toEqual(taken)
    },
  )

  it('is refused when the previous attempt was released after the read', async () => {
    const { deps, creating } = await aCreating()
    deps.clock.advance(31)
    await fail(deps, creating)
    const before = await stored(deps, creating)

    expect((await takeOver(deps, creating)).applied).toBe(false)
    expect(await stored(deps, creating)).toEqual(before)
  })

  it('is refused when a capture was stored after the read; after a new read the payment stays due', async () => {
    const { deps, creating } = await aCreating(FREE)
    const taken = { ...creating, ...REMEMBERED, attempt: 3, dueAt: addMs(deps.now(), DAY_MS) }
    await remember(deps, creating)

    const unaware = await takeOver(deps, creating)
    const aware = await claimTakeover(deps, { read: creating, taken }, deps.now())

    expect([unaware.applied, aware.applied]).toStrictEqual([false, true])
    expect(await stored(deps, creating)).toEqual({ ...taken, dueAt: deps.now() })
  })
})

const LONG_AFTER = 90 * 86_400

it.each([
  ['that the provider refused 90 days ago', true, LONG_AFTER, true],
  ['that the provider refused a second later', true, LONG_AFTER - 1, false],
  ['that may exist at the provider, at any age', false, 10 * LONG_AFTER, false],
])('claimPayment replaces a failed create %s: %s', async (_case, forgettable, seconds, takesIt) => {
  const { deps, creating } = await aCreating()
  await releaseAttempt(deps, creating, { failure: 'refused', providerAttempts: [], forgettable })
  deps.clock.advance(seconds)
  const anew = { ...creating, attempt: 1, claimedAt: deps.now() }

  const found = await stored(deps, creating)
  const { applied } = await claimPayment(deps, anew)

  expect([applied, found === undefined]).toStrictEqual([takesIt, takesIt])
  expect(await stored(deps, creating)).toMatchObject({ attempt: takesIt ? 1 : 2 })
})

it('releaseAttempt ends the due work, unless a capture was stored meanwhile: then the payment stays due', async () => {
  const { deps, creating } = await aCreating({ dueAt: addMs(testDeps().now(), 60_000) })
  const kept = { failure: 'refused', providerAttempts: [] }
  const ended = { ...kept, forgettable: true }

  await remember(deps, creating)

  expect((await releaseAttempt(deps, creating, ended)).applied).toBe(true)
  expect(await stored(deps, creating)).toEqual({
    ...creating,
    ...REMEMBERED,
    ...FREE,
    dueAt: deps.now(),
    ...kept,
  })
  const released = await aCreating({ dueAt: deps.now() })
  await releaseAttempt(released.deps, released.creating, ended)
  expect(await stored(released.deps, released.creating)).not.toHaveProperty('dueAt')
})

it('a commit is refused unless it keeps a capture that was stored meanwhile', async () => {
  const { deps, creating } = await aCreating()
  await remember(deps, creating)
  const carrying = { ...visible(deps, creating), ...REMEMBERED, dueAt: deps.now() }

  const without = await commit(deps, creating)
  const withIt = await transact(deps, commitPending(carrying))

  expect([without.applied, withIt.applied]).toStrictEqual([false, true])
  expect(await stored(deps, creating)).toEqual(carrying)
})
