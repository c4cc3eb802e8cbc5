/** A payment's item stays small however often its create is tried, and no push that may have been sent is forgotten for it. */
import { describe, expect, it } from 'vitest'
import type { ProviderAttempt } from '../../../shared/payment/payment.ts'
import { withAttempt } from '../../../shared/payment/provider-attempts.ts'
import { timestampOf } from '../../../shared/time.ts'

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

const FIRST_TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

describe('the attempts that a payment keeps', () => {
  it('are the first ten and the last ten', () => {
    expect(numbersAfter(20, () => 'refused')).toHaveLength(20)
    expect(numbersAfter(40, () => 'refused')).toStrictEqual([...FIRST_TEN, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40])
  })

  it('are those that may have been sent before those that were refused or never left', () => {
    const numbers = numbersAfter(40, (number) => (number === 12 || number === 15 ? 'unknown' : 'not_executed'))

    expect(numbers).toStrictEqual([...FIRST_TEN, 12, 15, 33, 34, 35, 36, 37, 38, 39, 40])
  })

  it('are twenty though all of them were sent', () => {
    expect(numbersAfter(40, () => 'unknown')).toStrictEqual([...FIRST_TEN, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40])
  })
})
