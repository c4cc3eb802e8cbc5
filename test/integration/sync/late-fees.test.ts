import { describe, expect } from 'vitest'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import { sweep } from '../../support/settlement-builders.ts'
import {
  expectPayment,
  findingAbout,
  type PaidUpstream,
  PENDING,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { sumsOf } from './held-money.ts'
import { syncTest } from './sync-test.ts'
import { FINAL, rowOut } from './transfer-rows.ts'

const MORE = { net_amount: 63_000, fee: { ...FINAL.fee, xendit_fee: 3_000 } }
/** The row still shows the fee that it no longer moves. */
const GIVEN_BACK = { net_amount: 60_000, fee: { ...FINAL.fee, status: 'REVERSED' } }
const NOT_CHARGED = { fee: { ...PENDING.fee, status: 'NOT_APPLICABLE' } }
const NOTHING = { providerMinor: 0, costMinor: 0 }
/** A refund waits a week for its fee before it is booked. */
const TYPES = ['DISBURSEMENT', 'WITHDRAWAL']

/** A refund whose fee is waited for no longer. */
function oldRefund({ now }: TestDeps, paid: PaidUpstream) {
  const { reference: reference_id, providerPaymentId: product_id } = paid
  return { type: 'REFUND', reference_id, product_id, created: addMs(now(), -8 * DAY_MS) }
}

/** The settled row by which a payment is posted. */
const POSTED = { ...FINAL, net_amount: 95_560 }

function ownRowOf({ now }: TestDeps, paid: PaidUpstream) {
  const { reference: reference_id, providerPaymentId: product_id } = paid
  return {
    type: 'PAYMENT',
    cashflow: 'MONEY_IN',
    amount: 100_000,
    created: now(),
    reference_id,
    product_id,
    settlement_status: 'SETTLED',
  }
}

const it = syncTest.extend(
  'showInTurn',
  ({ deps, rows, sync }) =>
    /** The sync reads the versions of one row, by default of an order, in turn. Answers its id. */
    async (fields: object, versions: object[]) => {
      const shown = { reference_id: 'order 17', created: deps.now(), ...fields }
      const { transactionId: id } = rowOut(deps, shown)
      const at = rows.length
      for (const version of versions) {
        rows.splice(at, 1, rowOut(deps, { ...shown, ...version, id }))
        await sync()
        deps.clock.advance(600)
      }
      return id
    },
)

/** Of the house, whose audit finds nothing. */
async function auditedSums(deps: TestDeps) {
  await expectHouseBalanced(deps)
  const { providerMinor, costMinor } = await sumsOf(deps, '2026-12-25')
  return { providerMinor, costMinor }
}

/** The findings `fee_changed` of a row, by its entry. */
function told({ published }: TestDeps, id: string) {
  return published.map(({ subject }) => subject.replace(`${id}#`, '').replace('#fee_changed', ''))
}

describe('sync: the fee of a row that becomes final after the row was booked', () => {
  it.for(TYPES)(
    'is the house’s cost of a %s once, with one finding',
    async (type, { deps, syncAfter, showInTurn }) => {
      const shown = { type, reference_id: 'order 17', created: deps.now() }

      const id = await showInTurn(shown, [PENDING, FINAL])
      await syncAfter(86_400, rowOut(deps, { ...shown, ...PENDING, id }))

      expect(await auditedSums(deps)).toStrictEqual({ providerMinor: -62_500, costMinor: -2_500 })
      expect(told(deps, id)).toStrictEqual(['fee'])
    },
  )

  it.for([
    ...TYPES.map((type) => ({ type, forms: [FINAL] })),
    { type: 'DISBURSEMENT', forms: [FINAL, MORE] },
  ])(
    'is booked back with a $type that is void after $forms.length changes',
    async ({ type, forms }, { deps, showInTurn }) => {
      await showInTurn({ type }, [PENDING, ...forms, { ...forms.at(-1), status: 'REVERSED' }])

      expect(await auditedSums(deps)).toStrictEqual(NOTHING)
    },
  )

  it.for([
    ['the house’s of a posted payment', { net_amount: 100_000, fee: GIVEN_BACK.fee }, 4_440],
    ['booked back when the row of a posted payment shows its first fee again', POSTED, 0],
  ] as const)(
    'is %s, until the payment is void',
    async ([, back, sum], { deps, credited, rows, sync, showInTurn }) => {
      const shown = ownRowOf(deps, credited)

      const id = await showInTurn(shown, [POSTED, { ...FINAL, net_amount: 95_000 }, back])

      expect(await auditedSums(deps)).toStrictEqual({ providerMinor: sum, costMinor: sum })
      expect(told(deps, id)).toStrictEqual(['fee', 'fee2'])
      rows.splice(0, 1, rowOut(deps, { ...shown, ...back, id, status: 'VOIDED' }))
      await sync()
      expect(await auditedSums(deps)).toStrictEqual(NOTHING)
      // A page that the provider made before the void.
      rows.splice(0, 1, rowOut(deps, { ...shown, ...FINAL, net_amount: 95_000, id }))
      await sync()
      expect(await auditedSums(deps)).toStrictEqual(NOTHING)
    },
  )

  it('is no fee when the row of a posted payment shows another amount', async ({
    deps,
    credited,
    showInTurn,
  }) => {
    const shown = ownRowOf(deps, credited)
    const id = await showInTurn(shown, [POSTED, { ...POSTED, amount: 90_000, net_amount: 85_560 }])

    expect(await auditedSums(deps)).toStrictEqual({ providerMinor: -10_000, costMinor: 0 })
    expect(await findingAbout(deps, id, 'row_contradicts')).toBeDefined()
  })

  it('is booked at each of three changes, and a fourth is told and not booked', async ({
    deps,
    showInTurn,
  }) => {
    const withFee = (xendit_fee: number) => ({
      net_amount: 60_000 + xendit_fee,
      fee: { ...FINAL.fee, xendit_fee },
    })
    const id = await showInTurn({}, [
      PENDING,
      FINAL,
      withFee(3_000),
      withFee(2_000),
      withFee(4_000),
    ])

    expect(await auditedSums(deps)).toMatchObject({ providerMinor: -62_000, costMinor: -2_000 })
    expect(told(deps, id)).toStrictEqual(['fee', 'fee2', 'fee3', 'fee 4000'])
  })

  it('is the house’s cost beside the movement of a payment, after a week', async ({
    deps,
    credited,
    rows,
    sync,
    showInTurn,
  }) => {
    await sync(rowNow(deps, credited))
    const shown = oldRefund(deps, credited)

    const id = await showInTurn(shown, [PENDING, FINAL])

    await expectPayment(deps, credited, { movements: [{ providerMinor: -60_000 }] })
    expect(await auditedSums(deps)).toStrictEqual({ providerMinor: -2_500, costMinor: -2_500 })
    rows.splice(1, 1, rowOut(deps, { ...shown, ...FINAL, status: 'VOIDED', id }))
    await sync()
    expect(await auditedSums(deps)).toStrictEqual(NOTHING)
  })
})

describe('sync: the fee of a row that the provider gives back after the row was booked', () => {
  it.for([
    ...TYPES.flatMap((type) =>
      ['REVERSED', 'CANCELED'].map((status) => {
        const back = { ...GIVEN_BACK, fee: { ...GIVEN_BACK.fee, status } }
        return { type, versions: [FINAL, back, back], findings: ['fee'], sums: {} }
      }),
    ),
    // The fee was booked late itself.
    {
      type: 'WITHDRAWAL',
      versions: [PENDING, FINAL, GIVEN_BACK],
      findings: ['fee', 'fee2'],
      sums: { costMinor: 0 },
    },
  ])(
    'is booked back of a $type once, with the findings $findings',
    async ({ type, versions, findings, sums }, { deps, showInTurn }) => {
      const id = await showInTurn({ type }, versions)

      expect(await auditedSums(deps)).toMatchObject({ providerMinor: -60_000, ...sums })
      expect(told(deps, id)).toStrictEqual(findings)
    },
  )

  it('is booked back beside a second movement that had moved with its pending fee', async ({
    deps,
    credited,
    sync,
    showInTurn,
  }) => {
    const other = { ...oldRefund(deps, credited), amount: 10_000, net_amount: 10_000 }
    await sync(rowNow(deps, credited), rowOut(deps, other))
    const shown = oldRefund(deps, credited)
    const pending = { net_amount: 62_500, fee: { ...FINAL.fee, status: 'PENDING' } }

    const id = await showInTurn(shown, [pending, NOT_CHARGED])

    const { movements } = await paymentOf(deps, credited)
    expect(movements.map((row) => row.providerMinor)).toStrictEqual([-10_000, -62_500])
    expect(await auditedSums(deps)).toMatchObject({ providerMinor: 2_500 })
    const item = await findingAbout(deps, `${id}#fee`, 'fee_changed')
    expect(item).toMatchObject({ amountMinor: 2_500, paymentId: credited.payment.paymentId })
  })
})

it('what a contradicting row of a posted payment moves later is booked, until its void', async ({
  deps,
  client,
  credited,
  rows,
  showInTurn,
}) => {
  const shown = ownRowOf(deps, credited)
  const id = await showInTurn(shown, [{ ...POSTED, net_amount: 30_000 }])
  deps.clock.advance(8 * 86_400)
  await sweep(deps, client)
  await expectPayment(deps, credited, { ownRow: { providerMinor: 30_000 } })
  const next = async (fields: object) => {
    rows.splice(0, 1, rowOut(deps, { ...shown, ...fields, id }))
    await syncProviderTransactions(deps)
    deps.clock.advance(86_400)
    return auditedSums(deps)
  }

  expect(await next(POSTED)).toStrictEqual({ providerMinor: 65_560, costMinor: 0 })
  expect(await next(POSTED)).toMatchObject({ providerMinor: 65_560 })
  // The corrected row contradicts nothing.
  expect(await findingAbout(deps, id, 'row_contradicts')).toBeUndefined()
  expect(await next({ ...POSTED, status: 'VOIDED' })).toMatchObject({ providerMinor: 0 })
})
