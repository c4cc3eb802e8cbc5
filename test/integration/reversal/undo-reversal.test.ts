/**
 * Disputes that are won (design section 10): all that a chargeback took comes again, once, wherever the payment stands by
 * then, and whoever else moves the books at the same moment.
 */
import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { toPaymentDto } from '../../../shared/payment/payment-dto.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { dispute, figures, won } from '../../support/dispute-builders.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { aDayLater, settle, sweptNow } from '../../support/settlement-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { reversalTest as it } from './reversal-test.ts'

describe('a dispute that is won before its window is swept', () => {
  it('leaves everything as if there had been none', async ({ deps, paid: { client, first } }) => {
    await dispute(deps, first)

    expect(await won(deps, first)).toBe('undone')

    expect(await figures(deps, client)).toStrictEqual([141_850, 0, 0, 0, 0])
    expect(toPaymentDto(await paymentOf(deps, { payment: first })).reversal).toStrictEqual({
      kind: 'chargeback',
      amount_minor: 125_000,
      at: expect.any(String),
      undone_at: deps.now(),
    })
    expect(deps.published.map(({ subject }) => subject)).toStrictEqual([
      `cb1_${first.paymentId}#reversal_deducted`,
      `won1_${first.paymentId}#reversal_undone`,
    ])
    await expectBalanced(deps, client.clientId)
    aDayLater(deps)
    expect(await sweptNow(deps, client)).toMatchObject({ netMinor: 141_850, paymentCount: 2 })
  })

  it('counts once, and a later dispute starts anew', async ({ deps, paid: { client, first } }) => {
    await dispute(deps, first)

    await won(deps, first)
    await won(deps, first)
    await dispute(deps, first, 2)
    const again = await paymentOf(deps, { payment: first })

    expect(await figures(deps, client)).toStrictEqual([45_950, 0, 0, 0, 0])
    expect(toPaymentDto(again).reversal).toMatchObject({ amount_minor: 125_000, undone_at: undefined })
    await expectBalanced(deps, client.clientId)
    await won(deps, first, 2)
    expect(await figures(deps, client)).toStrictEqual([141_850, 0, 0, 0, 0])
  })

  it('is put back behind a settlement that swept it meanwhile', async ({ deps, paid: { client, first } }) => {
    await dispute(deps, first)
    aDayLater(deps)
    const racing = beforeFirst(deps, 'transact', () => settle(deps, client))

    expect(await won(racing, first)).toBe('undone')

    expect(await figures(deps, client)).toStrictEqual([95_900, 0, 45_950, 0, 0])
  })

  it('is in the settlement that had summed its window without it', async ({ deps, paid: { client, first } }) => {
    await dispute(deps, first)
    aDayLater(deps)
    const racing = beforeFirst(deps, 'transact', () => won(deps, first))

    expect((await settle(racing, client)).settlements).toMatchObject([{ netMinor: 141_850, paymentCount: 2 }])
  })

  it('shares its number with nobody reversed meanwhile', async ({ deps, paid: { client, first, second } }) => {
    await dispute(deps, first)
    const racing = beforeFirst(deps, 'transact', () => dispute(deps, second))

    await won(racing, first)

    expect(await figures(deps, client)).toStrictEqual([95_900, 0, 0, 0, 0])
  })

  it('is undone once by two who hear of it at the same moment', async ({ deps, paid: { client, first } }) => {
    await dispute(deps, first)
    const racing = beforeFirst(deps, 'transact', () => won(deps, first))

    expect(await won(racing, first)).toBe('undone')

    expect(await figures(deps, client)).toStrictEqual([141_850, 0, 0, 0, 0])
  })
})

describe('what comes again and is not all of one dispute', () => {
  it.for([
    ['in part', 'unclear'],
    ['of a void', 'unclear'],
    ['of more than one', 'unclear'],
    ['before its dispute is heard of', 'too_early'],
    ['twice', 'too_early'],
  ] as const)('changes nothing: %s', async ([what, expected], { deps, paid: { client, first } }) => {
    if (what === 'in part' || what === 'of more than one' || what === 'twice') await dispute(deps, first)
    if (what === 'of more than one') await dispute(deps, first, 2)
    if (what === 'of a void')
      await reversePayment(deps, first, { transactionId: 'txn', kind: 'voided', amountMinor: first.notionalMinor })
    if (what === 'twice') await won(deps, first)
    const before = await figures(deps, client)

    const undone = await won(deps, first, 2, what === 'in part' ? minor(99_999) : first.notionalMinor)

    expect(undone).toBe(expected)
    expect(await figures(deps, client)).toStrictEqual(before)
  })
})
