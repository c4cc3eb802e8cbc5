/** Goal: a payment's row without a reference belongs to the capture that it names, and no other. */
import { expect } from 'vitest'
import { findingAbout, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { syncTest as it } from './sync-test.ts'

it.for(['success', 'reversed'] as const)(
  'a %s row of another id is a finding, although its request leads to the payment',
  async (status, { deps, credited, sync }) => {
    await sync(rowNow(deps, credited))
    const before = await paymentOf(deps, credited)

    const other = { reference: '', paymentRequestId: before.paymentRequestId }
    await sync(rowNow(deps, { ...credited, providerPaymentId: 'inv-1' }, { ...other, status }))

    expect(await paymentOf(deps, credited)).toStrictEqual(before)
    expect(await findingAbout(deps, 'inv-1', 'transaction_unexplained')).toMatchObject({
      amountMinor: 100_000,
    })
  },
)
