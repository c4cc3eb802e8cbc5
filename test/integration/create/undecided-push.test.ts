/** Goal and method: as in hold-back-push.test.ts; here the push is not decided, or its time is not over. */
import { describe, expect, it } from 'vitest'
import { findStoredPayment, releaseAttempt } from '../../../shared/payment/payment-store.ts'
import { again, expectHeldBack, expectSecondPush, lostPush, showRows, UNKNOWN } from '../../support/lost-push.ts'
import { aCreating, aRequest, aStoredClient, OVO_REQUEST } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

const UNDECIDED = 'not decided yet'
const MAY_BE_ANSWERED = 'may still be answered'

describe('a push that is not decided', () => {
  it.each([
    ['pending, and its request is open', 'pending', 'open', 'open'],
    ['there although the money cannot be seen yet', 'success', 'open', 'open'],
    ['there although its request has failed', 'success', 'failed', 'failed'],
  ] as const)('is not sent again while its row is %s', async (_, rowStatus, status, requestStatus) => {
    const { deps, client, row, upstream } = await lostPush()
    const known = row(rowStatus)
    upstream(known, { status }, requestStatus)
    showRows(deps, { transactions: [known] })

    await expectHeldBack(deps, client, UNDECIDED)
  })

  it('is not sent again while the provider cannot be asked about its row', async () => {
    const { deps, client, row } = await lostPush()
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'unreachable' }))
    showRows(deps, { transactions: [row('success')] })

    await expectHeldBack(deps, client, UNDECIDED)
  })

  it('is not sent again when the row leads to money of another payment', async () => {
    const { deps, client, row, upstream } = await lostPush()
    const known = row('success')
    upstream({ ...known, reference: 'somebody-else' }, { status: 'captured', capturedMinor: 100_000 })
    showRows(deps, { transactions: [known] })

    await expectHeldBack(deps, client, UNDECIDED)
  })

  it('is not asked about behind the deadline of the request', async () => {
    const { deps, client, row } = await lostPush()
    deps.provider.script('getPayment', async () => {
      deps.clock.advance(22)
      return { kind: 'not_found' }
    })
    showRows(deps, { transactions: [row('success')] })

    await expectHeldBack(deps, client, UNDECIDED)

    expect(deps.provider.countOf('getRequest')).toBe(0)
  })
})

describe("a push's lifetime", () => {
  it('counts from the end of the call, not from the claim', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    deps.provider.script('createRequest', async () => {
      deps.clock.advance(12)
      return UNKNOWN
    })
    await again(deps, client).catch(() => undefined)
    deps.provider.heal('createRequest')

    deps.clock.advance(59)
    await expectHeldBack(deps, client, MAY_BE_ANSWERED)
    deps.clock.advance(1)
    await expectSecondPush(deps, client)
  })

  it('counts from the end of the longest lease where the release that made it did not note when it ended', async () => {
    const { deps, client, creating } = await aCreating({ request: aRequest(OVO_REQUEST), attempt: 1 })
    const [attempt] = [{ number: 1, startedAt: deps.now(), outcome: 'unknown' as const }]
    await releaseAttempt(deps, creating, { failure: 'no answer', providerAttempts: [attempt] })

    deps.clock.advance(89)
    await expect(again(deps, client)).rejects.toThrow(MAY_BE_ANSWERED)
    deps.clock.advance(1)
    const { payment } = await again(deps, client)

    expect(payment).toMatchObject({ status: 'pending', attempt: 2 })
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })
})
