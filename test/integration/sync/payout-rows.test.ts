/**
 * Goal: a payout that the provider makes by its own template is in the books once: its row and the
 * paid settlement cancel each other at the bank (design sections 12 and 15).
 */
import { describe, expect } from 'vitest'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import {
  aDayLater,
  auditedNow,
  bringBack,
  fail,
  payOut,
  recredit,
  sweptNow,
} from '../../support/settlement-builders.ts'
import { expectUnexplained, findingAbout, rowNow } from '../../support/synced-payment.ts'
import { booksOf } from '../books/books-world.ts'
import { dyingBefore, syncTest } from './sync-test.ts'
import { rowOut } from './transfer-rows.ts'

const FEE = 2_500

/** `disbursed`: the row of a transfer that names the settlement, with a fee; `booked`: one read. */
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
  .extend('booked', async ({ sync, disbursed }) => {
    const row = disbursed()
    await sync(row)
    return row
  })
  .extend('becomes', ({ deps, rows }) => (row: ProviderTransaction, shown: object) => {
    deps.clock.advance(600)
    const { transactionId: id, createdAt: created, reference: reference_id, amountMinor } = row
    const changed = rowOut(deps, {
      id,
      created,
      reference_id,
      amount: amountMinor,
      net_amount: amountMinor + FEE,
      ...shown,
    })
    rows.splice(rows.indexOf(row), 1, changed)
  })

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

  it.for([
    ['another amount', 90_000],
    ['a failed settlement', 95_460],
  ] as const)('of %s is a finding', async ([of, amount], { deps, settlement, sync, disbursed }) => {
    if (of === 'a failed settlement') await fail(deps, settlement)
    const row = disbursed({}, amount)

    await sync(row)

    await expectUnexplained(deps, row.transactionId, { status: 'open', amountMinor: amount })
    expect((await booksOf(deps)).figures).toHaveProperty('at_bank.withdrawal', amount)
  })

  it('beside another one of its settlement is a finding, also when it is void', async ({
    deps,
    sync,
    disbursed,
    becomes,
  }) => {
    const [first, second] = [disbursed(), disbursed()]
    await sync(first)
    await sync(second)
    becomes(second, { status: 'REVERSED' })
    await sync()

    const subjects = [second.transactionId, `${second.transactionId}#reversal`, first.transactionId]
    expect(new Set(deps.published.map(({ subject }) => subject))).toStrictEqual(
      new Set(subjects.map((subject) => `${subject}#transaction_unexplained`)),
    )
  })

  it('after a void one of its settlement is told when it is void itself', async ({
    deps,
    settlement: { settlementId },
    sync,
    disbursed,
    becomes,
  }) => {
    const told = () => deps.published.map(({ subject }) => subject)
    const subjectOf = ({ transactionId: id }: ProviderTransaction) =>
      `${id}#${settlementId}#transaction_unexplained`
    const first = disbursed()
    await sync(first)
    becomes(first, { status: 'REVERSED' })
    await sync()
    const second = disbursed()
    await sync(second)
    expect(told()).toStrictEqual([subjectOf(first)])
    becomes(second, { status: 'REVERSED' })
    await sync()

    expect(told()).toStrictEqual([first, second].map(subjectOf))
  })

  it('that names no settlement of ours is unmatched', async ({ deps, sync, disbursed }) => {
    const row = disbursed({ reference_id: crypto.randomUUID() })

    await sync(row)

    expect((await booksOf(deps)).figures).toHaveProperty('other.unmatched', row.providerMinor)
  })

  it('is a finding when its settlement is marked failed later, also if it is re-credited', async ({
    deps,
    settlement,
    booked: row,
    syncDays,
  }) => {
    await fail(deps, settlement)
    await recredit(deps, settlement)
    expect(deps.published).toStrictEqual([])

    await syncDays(3)

    const subject = `${row.transactionId}#transaction_unexplained`
    expect(deps.published).toMatchObject([{ kind: 'suspense.finding', subject }])
    expect((await booksOf(deps)).figures).toMatchObject({ at_bank: settlement.netMinor })
  })

  it('is no finding of a settlement that is marked failed after the row became void', async ({
    deps,
    rows,
    settlement,
    sync,
    syncAfter,
    booked: row,
    becomes,
  }) => {
    becomes(row, { status: 'REVERSED' })
    await sync()
    await fail(deps, settlement)

    // A page that the provider made before the void.
    rows.pop()
    await syncAfter(60, { ...row, updatedAt: deps.now() })

    expect(await findingAbout(deps, row.transactionId, 'transaction_unexplained')).toBeUndefined()
  })

  it('that brings money in is no payout', async ({ deps, sync, disbursed }) => {
    await sync(disbursed({ type: 'TRANSFER_IN', cashflow: 'MONEY_IN', net_amount: 92_960 }))

    expect((await booksOf(deps)).figures).toHaveProperty('other.unmatched', 92_960)
  })
})

describe('the row of a payout that becomes void after it was booked', () => {
  it.for(['REVERSED', 'FAILED', 'VOIDED'])(
    'is told when it is %s, because the merchant lacks the money of a paid settlement',
    async (status, { deps, settlement, sync, syncAfter, booked: row, becomes }) => {
      await payOut(deps, settlement)
      becomes(row, { status })

      await sync()
      await syncAfter(86_400)

      const { settlementId } = settlement
      const { figures } = await booksOf(deps)
      expect(figures).toMatchObject({ at_bank: -95_460 })
      expect(figures).not.toHaveProperty('cost')
      const message = expect.stringContaining(
        `transfer, run return-payout --settlement_id ${settlementId} `,
      )
      const subject = `${row.transactionId}#${settlementId}#transaction_unexplained`
      expect(deps.published).toMatchObject([{ kind: 'suspense.finding', subject, message }])
    },
  )

  it('is told although the process dies after the row is booked back', async ({
    deps,
    settlement,
    syncAfter,
    booked: row,
    becomes,
  }) => {
    await payOut(deps, settlement)
    becomes(row, { status: 'REVERSED' })
    await syncProviderTransactions(dyingBefore(deps, settlement.settlementId))
    expect((await booksOf(deps)).figures).toMatchObject({ at_bank: -95_460 })

    await syncAfter(600)

    expect(deps.published).toMatchObject([{ kind: 'suspense.finding' }])
  })

  it('is not told when an operator has booked before that the money came back', async ({
    deps,
    settlement,
    sync,
    booked: row,
    becomes,
  }) => {
    await payOut(deps, settlement)
    await bringBack(deps, settlement)
    becomes(row, { status: 'REVERSED' })

    await sync()

    expect((await booksOf(deps)).figures).not.toHaveProperty('at_bank')
    expect(deps.published).toStrictEqual([])
  })
})
