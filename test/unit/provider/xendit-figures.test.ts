import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { timestampOf } from '../../../shared/time.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { readRows, shownFee } from './read-rows.ts'

describe('xendit listTransactions: what a row moves', () => {
  const moved = (type: string, cashflow: string, amount: number, net: number, kept: number) => ({
    type,
    cashflow,
    amount,
    net_amount: net,
    fee: { xendit_fee: kept / 2, value_added_tax: kept / 2, status: 'COMPLETED' },
  })

  it.each<[string, object, p: number, c: number | undefined]>([
    // Amount, net and fee by hand: p = net with its sign, c = the shown fee.
    ['a virtual account of 1 rupiah', { amount: 1, net_amount: -4_439 }, -4_439, undefined],
    ['a top-up', moved('TOPUP', 'MONEY_IN', 100_000, 97_500, 2_500), 97_500, 2_500],
    ['a withdrawal', moved('WITHDRAWAL', 'MONEY_OUT', 100_000, 102_500, 2_500), -102_500, 2_500],
    ['a disbursement', moved('DISBURSEMENT', 'MONEY_OUT', 40_000, -42_500, 2_500), -42_500, 2_500],
    ['a refund', moved('REFUND', 'MONEY_OUT', 30_000, 30_000, 0), -30_000, undefined],
    ['a refund with a fee', moved('REFUND', 'MONEY_OUT', 30_000, 30_500, 500), -30_500, 500],
    // Its amount includes the fee.
    ['a dispute', moved('CHARGEBACK', 'MONEY_OUT', 125_000, 125_000, 25_000), -125_000, 25_000],
    ['a won dispute', moved('CHARGEBACK_REVERSAL', 'MONEY_IN', 100, 90, 10), 90, 10],
    ['without a net', { ...moved('TOPUP', 'MONEY_IN', 100, 0, 10), net_amount: null }, 90, 10],
    ['in fractions', moved('TOPUP', 'MONEY_IN', 100, 89.5, 10.5), 89, 11],
    ['that contradicts itself', moved('TOPUP', 'MONEY_IN', 100, 91, 9.5), 91, 10],
  ])('reads what %s moves', async (_case, fields, providerMinor, feeMinor) => {
    const [row] = await readRows(fields)

    expect([row?.providerMinor, row?.feeMinor]).toStrictEqual([providerMinor, feeMinor])
  })

  it.each([
    // Moved, disputed or moved in all, fee: a fraction of a rupiah counts as fee.
    [moved('CHARGEBACK', 'MONEY_OUT', 125_000.5, 125_000.5, 25_000.5), 125_001, 100_000, 25_001],
    [moved('CHARGEBACK', 'MONEY_OUT', 1_055.57, 1_055.57, 55.57), 1_056, 1_000, 56],
    [moved('REFUND', 'MONEY_OUT', 30_000, 30_500.5, 500.5), 30_501, 30_000, 501],
    [moved('REFUND', 'MONEY_OUT', 30_000.5, 30_000.5, 0), 30_001, 30_000, 1],
  ])('a row in fractions is no contradiction: %j', async (fields, out, amount, kept) => {
    const [row] = await readRows(fields)

    const { providerMinor, disputedMinor, amountMinor, feeMinor } = row ?? {}
    expect([providerMinor, disputedMinor ?? amountMinor, feeMinor]).toStrictEqual([
      -out,
      amount,
      kept,
    ])
  })

  it('shows the whole fee of a dispute that is lower than its fee', async () => {
    const [row] = await readRows(moved('CHARGEBACK', 'MONEY_OUT', 1_000, 1_000, 25_000))

    expect(row).toMatchObject({ disputedMinor: 0, feeMinor: 25_000 })
  })

  // Only the fee of a movement is called open.
  it.each<[type: string, fee: string | undefined, state: string]>([
    ['REFUND', 'PENDING', 'open'],
    ['CHARGEBACK', 'PENDING', 'open'],
    ['CHARGEBACK_REVERSAL', 'PENDING', 'open'],
    ['REFUND', 'ESTIMATED', 'open'],
    ['REFUND', 'COMPLETED', 'ended'],
    ['REFUND', 'CANCELED', 'ended'],
    ['REFUND', undefined, ''],
    ['PAYMENT', 'PENDING', ''],
    ['PAYMENT', 'COMPLETED', 'ended'],
    ['WITHDRAWAL', 'PENDING', ''],
    ['WITHDRAWAL', 'CANCELED', 'ended'],
    ['DISBURSEMENT', 'REVERSED', 'ended'],
    ['WITHDRAWAL', 'ESTIMATED', ''],
    ['WITHDRAWAL', undefined, ''],
  ])('says of a %s whether its fee, %s, may still change: %s', async (type, status, state) => {
    const [row] = await readRows({ type, ...(status ? shownFee(status) : { fee: null }) })

    const said = [row?.hasOpenFee && 'open', row?.isFeeEnded && 'ended']
    expect(said.filter(Boolean).join()).toBe(state)
  })

  it.each<[string, ReturnType<typeof moved>, number | undefined]>([
    ['is in the net', moved('REFUND', 'MONEY_OUT', 60_000, 62_500, 2_500), 2_500],
    ['is not in the net', moved('REFUND', 'MONEY_OUT', 60_000, 60_000, 2_500), undefined],
    ['is not shown', moved('REFUND', 'MONEY_OUT', 60_000, 62_500, 0), undefined],
    ['is of a dispute', moved('CHARGEBACK', 'MONEY_OUT', 62_500, 62_500, 2_500), undefined],
  ])('shows a pending fee only if the row moves it: it %s', async (_case, fields, feeMinor) => {
    const fee = { ...fields.fee, status: 'PENDING' }

    const [row] = await readRows({ ...fields, fee })

    // Nor is the disputed amount known while the fee may change.
    expect([row?.feeMinor, row?.disputedMinor]).toStrictEqual([feeMinor, undefined])
  })

  it.each(['CANCELED', 'REVERSED'])('moves no fee that is %s', async (status) => {
    const fee = { xendit_fee: 2_500, value_added_tax: 275, status }
    const [row] = await readRows({
      ...moved('WITHDRAWAL', 'MONEY_OUT', 9, 0, 0),
      net_amount: null,
      fee,
    })

    expect([row?.providerMinor, row?.feeMinor]).toStrictEqual([-9, undefined])
  })

  it.each([
    [{ amount: 100_000, net_amount: 95_560 }, {}],
    [{ amount: 1, net_amount: -4_439 }, { amountMinor: minor(1) }],
    [moved('REFUND', 'MONEY_OUT', 9, 9, 0), { type: 'return', amountMinor: minor(9) }],
  ] as const)('moves what the stand-in of other tests moves: %j', async (row, fields) => {
    const ids = { providerPaymentId: 'py-1', reference: 'ref-1' }
    const { amountMinor, providerMinor } = settledRow(ids, timestampOf(0), fields)

    expect(await readRows(row)).toMatchObject([{ amountMinor, providerMinor }])
  })
})
