/** Goal: a payment's row without a reference belongs to the capture that it names, and no other. */
import { expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { runSyncJobs } from '../../../shared/sync/sync-run.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { aFinding } from '../../support/money-rows.ts'
import {
  expectFinding,
  expectPayment,
  expectUnexplained,
  findingAbout,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { resolve } from '../payment/suspense-test.ts'
import { refundFields, sumsOf, ZERO_SUMS } from './held-money.ts'
import { syncTest as it } from './sync-test.ts'

it.for([
  ['success', 'inv-1'],
  ['reversed', 'inv-1#reversal'],
] as const)(
  'a %s row of another id is a finding, although its request leads to the payment',
  async ([status, subject], { deps, credited, sync }) => {
    await sync(rowNow(deps, credited))
    const before = await paymentOf(deps, credited)

    const other = { reference: '', paymentRequestId: before.paymentRequestId }
    await sync(rowNow(deps, { ...credited, providerPaymentId: 'inv-1' }, { ...other, status }))

    expect(await paymentOf(deps, credited)).toStrictEqual(before)
    await expectUnexplained(deps, subject, { amountMinor: 100_000 })
  },
)

it('a row waits until the provider finds its capture, and its void is asked about once', async ({
  deps,
  credited,
  sync,
  syncAfter,
  showAnew,
  syncDays,
}) => {
  deps.provider.answer('getPayment', { kind: 'not_found' })
  const row = rowNow(deps, credited, { reference: '' })
  await sync(row)
  deps.provider.heal('getPayment')
  await syncAfter(3_600)
  expect((await paymentOf(deps, credited)).ownRow).toMatchObject({ providerMinor: 95_560 })
  const asked = deps.provider.countOf('getPayment')

  showAnew(row, { status: 'reversed' })
  const reversal = { amountMinor: 100_000, at: deps.now() }
  await syncDays(5)

  await expectPayment(deps, credited, { reversal })
  expect(deps.provider.countOf('getPayment') - asked).toBe(1)
})

it.for([{ kind: 'unanswered', reason: 'server_error' }, { kind: 'not_found' }] as const)(
  'a void waits for days until the provider knows its payment, although its paid row did not: %o',
  async (answer, { deps, credited, sync, showAnew, syncDays }) => {
    deps.provider.answer('getPayment', answer)
    const row = rowNow(deps, credited, { reference: '' })
    await sync(row)
    await syncDays(3)
    const { providerPaymentId: id } = row
    expect(await findingAbout(deps, id, 'transaction_unexplained')).toBeDefined()
    showAnew(row, { status: 'reversed' })
    await syncDays(3)
    expect(await findingAbout(deps, `${id}#reversal`, 'transaction_unexplained')).toBeDefined()
    const checkAlone = () => {
      deps.clock.advance(3_600)
      return runSyncJobs(deps, { woken: false })
    }
    await checkAlone()
    deps.provider.heal('getPayment')

    await checkAlone()

    await expectPayment(deps, credited, { isVoid: true })
  },
)

it('a void of no known payment is asked about, ever less, until its finding is explained', async ({
  deps,
  credited,
  sync,
  syncAfter,
  syncDays,
}) => {
  deps.provider.answer('getPayment', { kind: 'not_found' })
  const row = rowNow(deps, credited, { reference: '', status: 'reversed' })
  await sync(row)
  await syncDays(30)
  const before = deps.provider.countOf('getPayment')
  for (let hour = 0; hour < 24; hour++) await syncAfter(3_600)
  expect(deps.provider.countOf('getPayment') - before).toBeLessThan(5)
  await resolve(
    deps,
    { suspenseId: `${row.providerPaymentId}#reversal#transaction_unexplained` },
    'explained',
  )
  await syncAfter(3_600)
  const asked = deps.provider.countOf('getPayment')

  await syncAfter(86_400)

  expect(deps.provider.countOf('getPayment')).toBe(asked)
})

it.for(['reversed', 'failed'] as const)(
  'a second settled row of a posted payment’s capture is the house’s, also its fee, until it is %s',
  async (status, { deps, credited, rows, sync }) => {
    const row = rowNow(deps, credited)
    const second = { ...row, transactionId: 'txn_second' }
    await sync(row)

    await sync(second)
    const { providerMinor } = row
    const sums = { ...ZERO_SUMS, providerMinor, otherMinor: providerMinor }
    expect(await sumsOf(deps)).toStrictEqual(sums)
    await expectUnexplained(deps, 'txn_second', { paymentId: credited.payment.paymentId })
    const kept = { providerMinor: minor(95_000), keptMinor: minor(5_000) }
    rows.splice(1, 1)
    await sync({ ...second, ...kept, isFeeEnded: true })
    const costMinor = 95_000 - providerMinor
    expect(await sumsOf(deps)).toStrictEqual({ ...sums, providerMinor: 95_000, costMinor })
    expect(await findingAbout(deps, 'txn_second#fee', 'fee_changed')).toBeDefined()
    rows.splice(1, 1)
    await sync({ ...second, status })

    expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
    expect(await paymentOf(deps, credited)).not.toHaveProperty('isVoid')
  },
)

it.for([
  ['a posted', 'success'],
  ['an open', 'reversed'],
] as const)(
  'a row that the provider books again after the void of %s payment is the house’s',
  async ([, status], { deps, credited, rows, sync }) => {
    const row = rowNow(deps, credited)
    await sync({ ...row, status })
    rows.splice(0, 1, { ...row, status: 'reversed' })
    await sync()
    deps.published.length = 0

    // A page that the provider made before the void.
    await sync(row, { ...row, transactionId: 'txn_again' })

    expect(deps.published).toMatchObject([{ subject: 'txn_again#transaction_unexplained' }])
    const { providerMinor } = row
    expect(await sumsOf(deps)).toMatchObject({ providerMinor, otherMinor: providerMinor })
  },
)

it('a second row of a posted payment’s capture that is void before it settles leaves the payment', async ({
  deps,
  credited,
  rows,
  sync,
}) => {
  const row = rowNow(deps, credited)
  await sync(row)

  rows.splice(1)
  await sync({ ...row, transactionId: 'txn_second', status: 'reversed', settledAt: undefined })

  const about = { amountMinor: 100_000, paymentId: credited.payment.paymentId }
  expect(await paymentOf(deps, credited)).not.toHaveProperty('isVoid')
  await expectFinding(deps, 'txn_second', 'reversed_upstream', about)
})

it('a second row of an open payment’s capture that is void leaves the payment, until the first is void', async ({
  deps,
  credited,
  syncAfter,
  showAnew,
  syncDays,
}) => {
  const row = rowNow(deps, credited, NOT_SETTLED)
  const second = { ...row, transactionId: 'txn_second', status: 'reversed' } as const
  deps.provider.silence('listTransactions', 'server_error')
  await syncAfter(300)
  deps.provider.heal('listTransactions')
  await syncAfter(300, row, second)
  await syncDays(3)
  expect(await paymentOf(deps, credited)).not.toHaveProperty('isVoid')
  expect(await findingAbout(deps, 'txn_second', 'reversed_upstream')).toBeDefined()

  showAnew(row, { status: 'reversed' })
  await syncAfter(3_600)

  await expectPayment(deps, credited, { isVoid: true })
})

it('a void undoes no payment while another row of its capture is pending', async ({
  deps,
  credited,
  syncAfter,
  showAnew,
  syncDays,
}) => {
  const row = { ...rowNow(deps, credited), transactionId: 'txn_again' }
  const pending = { ...row, status: 'pending', settledAt: undefined } as const
  const first = { ...pending, transactionId: 'txn_first', status: 'reversed' } as const
  await syncAfter(300, { ...pending, providerMinor: minor(0) }, first)
  expect(await paymentOf(deps, credited)).not.toHaveProperty('isVoid')

  showAnew(row, {})
  await syncDays(3)

  await expectPayment(deps, credited, { ownRow: { transactionId: 'txn_again' } })
  expect(await paymentOf(deps, credited)).not.toHaveProperty('isVoid')
})

it.for([
  { isForeignNet: true as const },
  { amountMinor: minor(90_000) },
  { providerMinor: minor(-5_000) },
])(
  'a void undoes an open payment although another row of its capture stands with %o',
  async (contradiction, { deps, credited, syncAfter }) => {
    const row = rowNow(deps, credited, NOT_SETTLED)
    const other = { ...row, transactionId: 'txn_other', ...contradiction }

    await syncAfter(300, { ...row, status: 'reversed' }, other)

    await expectPayment(deps, credited, { isVoid: true })
  },
)

it.for([true, false])(
  'a refund that names no payment is told, and moves none, although a finding says that it did: %s',
  async (isNamed, { deps, credited, sync }) => {
    await sync(rowNow(deps, credited))
    const payment = isNamed ? { paymentId: credited.payment.paymentId } : undefined
    await aFinding(deps, { subject: 'txn_back#refund', cause: 'money_went_back', payment })

    const ids = { providerPaymentId: '', reference: 'order 17' }
    await sync(settledRow(ids, deps.now(), refundFields))

    await expectFinding(deps, 'txn_back', 'reversed_upstream', {
      amountMinor: 100_000,
      status: 'open',
    })
    await expectPayment(deps, credited, { movements: [] })
  },
)
