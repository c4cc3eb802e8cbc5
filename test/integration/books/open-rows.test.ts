/**
 * Goal: a row that the sync cannot decide yet has moved its money at the provider, so it is no gap
 * of the provider's balance; when it is booked it counts once.
 */
import { expect } from 'vitest'
import { noteOpenTransaction } from '../../../shared/sync/job-store.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import { syncJobKey } from '../../../shared/table/keys.ts'
import { dueWork } from '../../../shared/table/step.ts'
import { PENDING, paymentOf, rowNow } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { syncTest } from '../sync/sync-test.ts'
import { rowOut } from '../sync/transfer-rows.ts'
import { compareNow } from './books-world.ts'

const DAY_SECONDS = 86_400
/** Of the credited payment. */
const NET_MINOR = 95_560

const it = syncTest
  /** `moved`: what has left the provider's account beside the payment. */
  .extend('compare', ({ deps }) => async (moved: number) => {
    deps.provider.showBalance(NET_MINOR + moved)
    return compareNow(deps)
  })
  .extend('refund', ({ deps, credited, sync }) => async (reference_id = credited.reference) => {
    await sync(rowNow(deps, credited))
    const product_id = reference_id === credited.reference ? credited.providerPaymentId : ''
    const shown = { id: 'txn', type: 'REFUND', reference_id, product_id, created: deps.now() }
    await sync(rowOut(deps, { ...shown, ...PENDING }))
    return shown
  })

it('a refund that waits for its fee is no gap, before and after it is booked', async ({
  deps,
  credited,
  compare,
  refund,
  syncAfter,
}) => {
  await refund()
  for (let day = 0; day < 9; day++) {
    const isBooked = (await paymentOf(deps, credited)).movements.length > 0
    expect({ isBooked, ...(await compare(-60_000)) }).toMatchObject({
      isBooked: day > 6,
      gap_minor: 0,
    })
    await syncAfter(DAY_SECONDS)
  }
})

it.for([
  ['moved its payment', undefined],
  ['is booked by the house', 'order 17'],
])('a row counts once whose later form %s', async (rest, { deps, compare, refund, rows, sync }) => {
  const [, reference] = rest
  const shown = await refund(reference)
  deps.clock.advance(600)
  rows.splice(-1, 1, rowOut(deps, shown))
  await sync()
  expect(await rawItem(deps, syncJobKey('open#txn'))).toHaveProperty('work')

  expect(await compare(-60_000)).toMatchObject({ gap_minor: 0 })
})

it.for([
  ['an own row of a payment', { type: 'PAYMENT', cashflow: 'MONEY_IN' }],
  ['a row that is void', { type: 'REFUND', status: 'VOIDED' }],
  ['a row that failed', { type: 'REFUND', status: 'FAILED' }],
  ['a row of another currency', { type: 'REFUND', currency: 'USD' }],
] as const)(
  '%s that waits has moved nothing',
  async ([, shown], { deps, credited, compare, sync }) => {
    await sync(rowNow(deps, credited))
    await noteOpenTransaction(deps, rowOut(deps, shown), deps.now())

    expect(await compare(0)).toMatchObject({ gap_minor: 0 })
  },
)

it('a gap names the rows that wait, and the jobs that cannot be read', async ({
  deps,
  compare,
  refund,
  syncAfter,
}) => {
  await refund()
  const id = 'open#txn_later_release'
  await putRaw(deps, {
    ...syncJobKey(id),
    ...toItem({ id, kind: 'open', ...dueWork('sync', id, deps.now()) }),
  })
  for (let day = 0; day < 3; day++) {
    for (let round = 0; round < 4; round++) {
      await compare(-61_000)
      await syncAfter(600)
    }
    deps.clock.advance(DAY_SECONDS)
  }

  const named = expect.stringContaining(
    'today by -1000 IDR. Rows wait: open#txn_later_release, txn.',
  )
  expect(deps.published.filter(({ kind }) => kind === 'balance.gap')).toMatchObject([
    { message: named as unknown },
  ])
})
