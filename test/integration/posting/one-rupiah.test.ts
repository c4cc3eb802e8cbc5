/** Goal: money of one rupiah is booked like all other money, on the right side. */
import { expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { bookLateRow } from '../../../shared/posting/post-payments.ts'
import { anOpenPayment, post, postAssumed, settledRowFor } from '../../support/paid-builders.ts'
import { clientTest } from '../settlement/client-test.ts'
import { linesIn, trialBalance } from './worked-case.ts'

clientTest('a payment of one rupiah costs its client the fee', async ({ deps, client }) => {
  const payment = await anOpenPayment(deps, client, { notionalMinor: 1 })
  await post(deps, payment, { feeMinor: 4_440 })

  expect(await linesIn(deps, client)).toStrictEqual(['payment 1 4,440 0 -4,439 -4,439'])
  expect(await trialBalance(deps, client)).toBe('-4,439 -4,439 0')
})

clientTest('a row of one rupiah less is other, not a fee', async ({ deps, client }) => {
  const payment = await postAssumed(deps, await anOpenPayment(deps, client))
  const row = {
    ...settledRowFor(payment),
    providerMinor: minor(95_999),
    contradicts: true,
  } as const
  await bookLateRow(deps, payment, row)

  expect((await linesIn(deps, client)).toSorted()).toStrictEqual([
    'late_row 0 0 0 0 95,999 transit -96,000 other -1',
    'payment 100,000 4,000 100 95,900 0 transit 96,000',
  ])
})
