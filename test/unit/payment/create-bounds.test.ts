import { describe, expect, it } from 'vitest'
import { withAttempt } from '../../../shared/payment/create/create-payment.ts'
import { providerWithin, startDeadline } from '../../../shared/payment/create/create-times.ts'
import type { ProviderAttempt } from '../../../shared/payment/payment.ts'
import { timestampOf } from '../../../shared/time.ts'
import { fakeProvider } from '../../support/fake-provider.ts'
import { aCreateInput } from '../../support/scripted-provider.ts'
import { manualClock } from '../../support/test-deps.ts'

/** The timeout of each read call so many seconds after a request with 22 seconds began. */
const timeoutsAfter = async (seconds: number) => {
  const clock = manualClock()
  const deadline = startDeadline(clock)
  clock.advance(seconds)
  const provider = fakeProvider()
  const timeouts: Record<string, number> = {}
  for (const name of ['getRequest', 'getPayment', 'cancelRequest', 'listTransactions'] as const) {
    provider.script(name, async (_: unknown, timeoutMs: number) => {
      timeouts[name] = timeoutMs
      return { kind: 'not_found' as const }
    })
  }
  const within = providerWithin(provider, deadline)
  const read = await within.getRequest('pr-1', 4_000)
  await within.getPayment('py-1', 4_000)
  await within.listTransactions({ limit: 1 }, 4_000)
  await within.cancelRequest('pr-1', 4_000)
  return { timeouts, read, leftMs: deadline.remainingMs() }
}

describe('providerWithin (design section 4, Create: one deadline per request)', () => {
  it.each([
    [0, 4_000],
    [19.5, 2_500],
  ])('gives reads and cancels, after %d s, %i ms', async (seconds, ms) => {
    const { timeouts } = await timeoutsAfter(seconds)

    expect(timeouts).toStrictEqual({ getRequest: ms, getPayment: ms, listTransactions: ms, cancelRequest: ms })
  })

  it('begins no read after the deadline, and still cancels what must not stay payable', async () => {
    expect(await timeoutsAfter(24)).toStrictEqual({
      timeouts: { cancelRequest: 1_000 },
      read: { kind: 'unanswered', reason: 'unreachable' },
      leftMs: 0,
    })
  })
})

/* A payment's item stays small however often its create is tried, and what was never sent is forgotten first. */

const upTo = (last: number, count: number) => Array.from({ length: count }, (_, at) => last - count + 1 + at)

it.each([
  ['the last twenty where none may have been sent', [], upTo(60, 20)],
  ['the first and the last ten where all may have been sent', upTo(60, 60), [...upTo(10, 10), ...upTo(60, 10)]],
  ['the first two where only they may have been sent', [1, 2], [1, 2, ...upTo(60, 18)]],
  ['two between where only they may have been sent', [12, 15], [12, 15, ...upTo(60, 18)]],
])('of sixty attempts a payment keeps %s', (_, sent, numbers) => {
  const startedAt = timestampOf(0)
  let kept: readonly ProviderAttempt[] = []
  for (let number = 1; number <= 60; number++) {
    kept = withAttempt(kept, { number, startedAt, outcome: sent.includes(number) ? 'unknown' : 'refused' })
  }

  expect(kept.map(({ number }) => number)).toStrictEqual(numbers)
})

it.each([
  ['Warung  Kopi 24/7', 'Warung Kopi'],
  ['Café Ubud', 'Cafe Ubud'],
  ['CV 1', 'Gateway'],
  ['C.V.K.', 'CVK'],
  ['K'.repeat(51), 'K'.repeat(50)],
  [`${'K'.repeat(49)} K`, 'K'.repeat(49)],
])('a bank shows to the payer of %s the name %s', (name, displayName) => {
  expect(aCreateInput({}, { name })).toMatchObject({ displayName })
})
