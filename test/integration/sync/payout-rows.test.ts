/**
 * Goal: a payout that the provider makes by its own template is in the books once: its row and the
 * paid settlement cancel each other at the bank (design sections 12 and 15).
 */
import { describe, expect } from 'vitest'
import { aDayLater, auditedNow, fail, payOut, sweptNow } from '../../support/settlement-builders.ts'
import { findingAbout, rowNow } from '../../support/synced-payment.ts'
import { booksOf } from '../books/books-world.ts'
import { syncTest } from './sync-test.ts'
import { rowOut } from './transfer-rows.ts'

const FEE = 2_500

/** `disbursed`: the row of a transfer that names the settlement, with a fee beside its amount. */
const it = syncTest
  .extend('settlement', async ({ deps, client, credited, sync }) => {
    await sync(rowNow(deps, credited))
    aDayLater(deps)
    const settlement = await sweptNow(deps, client)
    await auditedNow(deps, settlement)
    return settlement
  })
  .extend(
    'disbursed',
    ({ deps, settlement }) =>
      (shown: object = {}, amount: number = settlement.netMinor) =>
        rowOut(deps, {
          reference_id: settlement.settlementId,
          amount,
          net_amount: amount + FEE,
          fee: { status: 'COMPLETED', xendit_fee: FEE, value_added_tax: 0 },
          ...shown,
        }),
  )

describe('the row of a payout that the provider made', () => {
  it.for(['before', 'after'])(
    'leaves nothing at the bank when it is read %s the settlement is paid',
    async (order, { deps, settlement, sync, disbursed }) => {
      if (order === 'before') await sync(disbursed())
      await payOut(deps, settlement)
      if (order === 'after') await sync(disbursed())

      const { figures, balanced } = await booksOf(deps)
      expect(balanced).toBe(true)
      expect(figures).toMatchObject({ paid_out: 95_460, 'cost.withdrawal': -FEE })
      expect(figures).not.toHaveProperty('at_bank')
      expect(figures).not.toHaveProperty('other')
      expect(deps.published).toStrictEqual([])
    },
  )

  it('that fails after it was booked is booked back', async ({ deps, rows, sync, disbursed }) => {
    const row = disbursed()
    await sync(row)

    rows.pop()
    deps.clock.advance(60)
    await sync({ ...row, status: 'failed', updatedAt: deps.now() })

    const { figures } = await booksOf(deps)
    expect(figures).not.toHaveProperty('at_bank')
    expect(figures).not.toHaveProperty('cost')
  })

  it('of another amount is a finding', async ({ deps, sync, disbursed }) => {
    const row = disbursed({}, 90_000)

    await sync(row)

    expect(await findingAbout(deps, row.transactionId, 'transaction_unexplained')).toMatchObject({
      status: 'open',
      amountMinor: 90_000,
    })
    expect((await booksOf(deps)).figures).toHaveProperty('at_bank.withdrawal', 90_000)
  })

  it('that names no settlement of ours is unmatched', async ({ deps, sync, disbursed }) => {
    const row = disbursed({ reference_id: crypto.randomUUID() })

    await sync(row)

    expect((await booksOf(deps)).figures).toHaveProperty('other.unmatched', row.providerMinor)
  })

  it('of a failed settlement is a finding', async ({ deps, settlement, sync, disbursed }) => {
    await fail(deps, settlement)
    const row = disbursed()

    await sync(row)

    expect(await findingAbout(deps, row.transactionId, 'transaction_unexplained')).toMatchObject({
      status: 'open',
      amountMinor: settlement.netMinor,
    })
  })

  it('that brings money in is no payout', async ({ deps, sync, disbursed }) => {
    await sync(disbursed({ type: 'TRANSFER_IN', cashflow: 'MONEY_IN', net_amount: 92_960 }))

    expect((await booksOf(deps)).figures).toHaveProperty('other.unmatched', 92_960)
  })
})
