/** Disputes that are won (design section 10): all that a chargeback took comes again, once, wherever the payment stands. */
import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { toPaymentDto } from '../../../shared/payment/payment-dto.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { markSettlementPaid } from '../../../shared/settlement/close-settlement.ts'
import { toOperatorSettlement } from '../../../shared/settlement/settlement-dto.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { resolveSuspense } from '../../../shared/suspense/resolve-suspense.ts'
import { dispute, figures, owed, owedFor, won } from '../../support/dispute-builders.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import {
  aDayLater,
  BY_OPERATOR,
  fail,
  payOut,
  recredit,
  settle,
  sweep,
  sweptNow,
} from '../../support/settlement-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
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

describe('a dispute of a settled payment that is won', () => {
  it('is owed no longer, and paid out without a word', async ({ deps, settled: { client, first, settlement } }) => {
    await dispute(deps, first)

    await won(deps, first)

    expect(await owedFor(deps, first)).toMatchObject({ status: 'resolved', resolution: 'reinstated' })
    expect(toOperatorSettlement(await findAnySettlement(deps, settlement.settlementId), deps.now())).toMatchObject({
      reversed_count: 0,
      reversed_net_minor: 0,
    })
    await expectBalanced(deps, client.clientId)
    expect(await payOut(deps, settlement)).toMatchObject({ netMinor: 141_850 })
    expect(await figures(deps, client)).toStrictEqual([0, 0, 0, 141_850, 0])
  })

  it('stops who has not seen what went back since', async ({ deps, settled: { first, second, settlement } }) => {
    await dispute(deps, first)
    await won(deps, first)
    await dispute(deps, second)
    const paid = (confirmReversed: number) =>
      markSettlementPaid(deps, {
        settlementId: settlement.settlementId,
        ...BY_OPERATOR,
        confirmUnfunded: true,
        confirmReversed,
      })

    await expect(paid(1)).rejects.toMatchObject({ fieldErrors: { confirm_reversed: [expect.stringContaining('2')] } })
    expect(await paid(2)).toMatchObject({ status: 'manual_paid' })
  })

  it.for(['before', 'after'] as const)(
    'is put back where a re-credit left it out: it went back %s that',
    async (when, { deps, settled: { client, first, settlement } }) => {
      if (when === 'before') await dispute(deps, first)
      await fail(deps, settlement)
      await recredit(deps, settlement)
      if (when === 'after') await dispute(deps, first)

      await won(deps, first)

      expect(await figures(deps, client)).toStrictEqual([95_900, 45_950, 0, 0, 95_900])
      await expectBalanced(deps, client.clientId)
      aDayLater(deps)
      const recorded = await sweep(deps, client)
      expect(recorded.map(({ netMinor }) => netMinor)).toStrictEqual([45_950, 95_900])
      for (const settled of recorded) await payOut(deps, settled)
      expect(await figures(deps, client)).toStrictEqual([0, 0, 0, 141_850, 95_900])
    },
  )

  const recovered = (deps: TestDeps, { paymentId }: Payment) =>
    resolveSuspense(deps, {
      suspenseId: `cb1_${paymentId}#reversed_after_settlement`,
      ...BY_OPERATOR,
      resolution: 'recovered',
    })

  it.for(['recredit', 'recredit of what was recovered', 'payout', 'dispute'] as const)(
    'comes out right when it races: the %s',
    async (other, { deps, settled: { client, first, second, settlement } }) => {
      await dispute(deps, first)
      if (other === 'recredit of what was recovered') await recovered(deps, first)
      if (other.startsWith('recredit')) await fail(deps, settlement)
      const others = {
        recredit: () => recredit(deps, settlement),
        'recredit of what was recovered': () => recredit(deps, settlement),
        payout: () =>
          markSettlementPaid(deps, { ...settlement, ...BY_OPERATOR, confirmUnfunded: true, confirmReversed: 1 }),
        dispute: () => dispute(deps, second),
      }
      const racing = beforeFirst(deps, 'transact', others[other])

      expect(await won(racing, first)).toBe('undone')

      const expected = {
        recredit: [95_900, 45_950, 0, 0, 95_900],
        'recredit of what was recovered': [95_900, 45_950, 0, 0, 95_900],
        payout: [0, 0, 0, 141_850, 0],
        dispute: [0, 0, 141_850, 0, 0],
      }
      expect(await figures(deps, client)).toStrictEqual(expected[other])
    },
  )

  it.for(['is owed', 'was recovered'] as const)(
    'refuses a re-credit that would leave it out, and the next try has it: it %s',
    async (state, { deps, settled: { client, first, settlement } }) => {
      await dispute(deps, first)
      if (state === 'was recovered') await recovered(deps, first)
      await fail(deps, settlement)
      const racing = beforeFirst(deps, 'transact', () => won(deps, first))

      await recredit(racing, settlement)

      expect(await figures(deps, client)).toStrictEqual([0, 141_850, 0, 0, 0])
    },
  )

  it('is told when its client has paid it back before: a person settles that', async ({ deps, settled: { first } }) => {
    await dispute(deps, first)
    const { suspenseId } = await recovered(deps, first)

    await won(deps, first)

    expect(await owed(deps, suspenseId)).toMatchObject({ resolution: 'recovered' })
    expect(await owed(deps, `${suspenseId}#undone_though_closed#won1_${first.paymentId}`)).toMatchObject({
      status: 'open',
      amount_minor: 95_900,
    })
  })

  it('sees that an operator closes what is owed at the same moment', async ({ deps, settled: { first } }) => {
    await dispute(deps, first)
    const suspenseId = `cb1_${first.paymentId}#reversed_after_settlement`
    const racing = beforeFirst(deps, 'transact', () =>
      resolveSuspense(deps, { suspenseId, ...BY_OPERATOR, resolution: 'written_off' }),
    )

    await won(racing, first)

    expect(await owed(deps, suspenseId)).toMatchObject({ resolution: 'written_off' })
    expect(await owed(deps, `${suspenseId}#undone_though_closed#won1_${first.paymentId}`)).toBeDefined()
  })
})
