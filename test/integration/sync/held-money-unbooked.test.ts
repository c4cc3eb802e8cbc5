/**
 * Goal: the books stay right when an operator resolves held money of whose row nothing is booked,
 * because its net is in another currency, or it has failed.
 */
import { expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { bookSuspense } from '../../../shared/posting/house-journal.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import { expectFinding, rowNow } from '../../support/synced-payment.ts'
import { resolve } from '../payment/suspense-test.ts'
import { heldTest, sumsOf, ZERO_SUMS } from './held-money.ts'

const it = heldTest.extend('held', async ({ deps, rows, hold, sync }) => {
  const { heldRow, item } = await hold('second_capture', {
    isForeignNet: true,
    keptMinor: undefined,
  })
  /** The row changes. */
  const change = (fields: object) => {
    deps.clock.advance(60)
    rows.splice(
      rows.findIndex(({ transactionId }) => transactionId === heldRow.transactionId),
      1,
    )
    return sync({ ...heldRow, ...fields, updatedAt: deps.now() })
  }
  const books = async () => {
    await expectHouseBalanced(deps)
    return sumsOf(deps)
  }
  const { transactionId, providerPaymentId: suspenseId } = heldRow
  return { item, change, books, transactionId, suspenseId }
})

const IN_RUPIAH = { isForeignNet: undefined, keptMinor: minor(4_440), providerMinor: minor(95_560) }

it('what the provider gave back of it is a loss, not paid by our bank, and its void books nothing', async ({
  deps,
  credited,
  sync,
  held,
}) => {
  const part = { type: 'return', amountMinor: minor(40_000) } as const
  await sync(rowNow(deps, { ...credited, providerPaymentId: held.suspenseId }, part))

  await resolve(deps, held)
  const lost = { ...ZERO_SUMS, providerMinor: -40_000, otherMinor: -40_000 }
  expect(await held.books()).toStrictEqual(lost)
  await held.change({ status: 'reversed' })

  expect(await held.item()).toMatchObject({ isVoid: true })
  expect(await held.books()).toStrictEqual(lost)
})

it.for(['success', 'failed'])(
  'a row that is in rupiah after the resolution is the house’s, and its void books it back: %s before',
  async (status, { deps, held }) => {
    await held.change({ status })
    if (status === 'failed') {
      await expect(resolve(deps, held)).rejects.toMatchObject({ code: 'conflict' })
      await resolve(deps, held, 'written_off')
    } else await resolve(deps, held)

    const { providerMinor } = IN_RUPIAH
    // A slice may have read the item before its resolution.
    const item = await held.item()
    await (item && bookSuspense(deps, item, { ...held, rowAt: deps.now(), providerMinor }))
    await held.change(IN_RUPIAH)
    expect(await held.books()).toStrictEqual({
      ...ZERO_SUMS,
      providerMinor,
      otherMinor: providerMinor,
    })
    for (let reading = 0; reading < 2; reading++)
      await held.change({ ...IN_RUPIAH, status: 'reversed' })

    await expectFinding(deps, held.transactionId, 'reversed_upstream', { amountMinor: 100_000 })
    expect(await held.books()).toStrictEqual(ZERO_SUMS)
  },
)

it('the void of money that our bank has refunded is told', async ({ deps, held }) => {
  await resolve(deps, held)
  deps.published.length = 0

  for (let reading = 0; reading < 2; reading++) await held.change({ status: 'reversed' })

  expect(deps.published).toMatchObject([{ subject: expect.stringContaining(held.transactionId) }])
})

heldTest(
  'our bank refunds no money of a row that is void by now',
  async ({ deps, hold, showAnew }) => {
    const { heldRow } = await hold('second_capture')
    showAnew(heldRow, { status: 'reversed' })

    const suspenseId = heldRow.providerPaymentId
    await expect(resolve(deps, { suspenseId })).rejects.toMatchObject({ code: 'conflict' })
  },
)
