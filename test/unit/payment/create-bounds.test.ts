import { describe, expect, it } from 'vitest'
import { withAttempt } from '../../../shared/payment/create/create-payment.ts'
import { providerWithin, startDeadline } from '../../../shared/payment/create/create-times.ts'
import type { ProviderAttempt } from '../../../shared/payment/payment.ts'
import { timestampOf } from '../../../shared/time.ts'
import { fakeProvider } from '../../support/fake-provider.ts'
import { manualClock } from '../../support/test-deps.ts'

const BUDGET_MS = 22_000

it('startDeadline (design section 4, Create: one deadline per request) counts down to zero and no further', () => {
  const clock = manualClock()
  const deadline = startDeadline(clock, BUDGET_MS)

  clock.advance(12)
  const left = deadline.remainingMs()
  clock.advance(12)

  expect([left, deadline.remainingMs()]).toStrictEqual([10_000, 0])
})

/** Every question with the time it was given, when so much is left of a request. */
const timeoutsWith = async (leftMs: number) => {
  const provider = fakeProvider()
  const timeouts: Record<string, number> = {}
  for (const name of ['getRequest', 'getPayment', 'cancelRequest', 'listTransactions'] as const) {
    provider.script(name, async (_: unknown, timeoutMs: number) => {
      timeouts[name] = timeoutMs
      return { kind: 'not_found' as const }
    })
  }
  const within = providerWithin(provider, { remainingMs: () => leftMs })
  const read = await within.getRequest('pr-1', 4_000)
  await within.getPayment('py-1', 4_000)
  await within.listTransactions({ limit: 1 }, 4_000)
  await within.cancelRequest('pr-1', 4_000)
  return { timeouts, read }
}

describe('providerWithin', () => {
  it.each([
    [22_000, 4_000],
    [2_500, 2_500],
  ])('gives reads and cancels, with %i ms left, %i ms', async (leftMs, ms) => {
    const { timeouts } = await timeoutsWith(leftMs)

    expect(timeouts).toStrictEqual({ getRequest: ms, getPayment: ms, listTransactions: ms, cancelRequest: ms })
  })

  it('begins no read after the deadline, and still cancels what must not stay payable', async () => {
    expect(await timeoutsWith(0)).toStrictEqual({
      timeouts: { cancelRequest: 1_000 },
      read: { kind: 'unanswered', reason: 'unreachable' },
    })
  })
})

/* A payment's item stays small however often its create is tried, and what was never sent is forgotten first. */

const attempt = (number: number, outcome: ProviderAttempt['outcome']): ProviderAttempt => ({
  number,
  outcome,
  startedAt: timestampOf(0),
})

const numbersAfter = (count: number, outcomeOf: (number: number) => ProviderAttempt['outcome']) => {
  let attempts: ProviderAttempt[] = []
  for (let number = 1; number <= count; number++) attempts = withAttempt(attempts, attempt(number, outcomeOf(number)))
  return attempts.map(({ number }) => number)
}

const upTo = (last: number, count: number) => Array.from({ length: count }, (_, at) => last - count + 1 + at)

describe('the attempts that a payment keeps', () => {
  it('are the last twenty where none may have been sent', () => {
    expect(numbersAfter(20, () => 'refused')).toStrictEqual(upTo(20, 20))
    expect(numbersAfter(40, () => 'refused')).toStrictEqual(upTo(40, 20))
  })

  it.each([
    ['the first', 1, 2],
    ['those between', 12, 15],
  ])('are those that may have been sent before all others: %s', (_, one, two) => {
    const numbers = numbersAfter(60, (number) => (number === one || number === two ? 'unknown' : 'not_executed'))

    expect(numbers).toStrictEqual([one, two, ...upTo(60, 18)])
  })

  it('are the first ten and the last ten where all may have been sent', () => {
    expect(numbersAfter(40, () => 'unknown')).toStrictEqual([...upTo(10, 10), ...upTo(40, 10)])
  })
})
