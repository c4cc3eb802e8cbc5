/**
 * Goal: the books are not "balanced" after an adapter signed a net wrongly. Method: the sync reads
 * rows whose net has the other sign, as such an adapter would answer them.
 */
import { expect } from 'vitest'
import { less, minor, ZERO } from '../../../shared/money.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { settle } from '../../support/settlement-builders.ts'
import { rowNow } from '../../support/synced-payment.ts'
import { foreignIds, syncTest } from '../sync/sync-test.ts'
import { booksOf } from './books-world.ts'

type Fields = Partial<ProviderTransaction>

const out = { keptMinor: undefined, amountMinor: minor(30_000), providerMinor: minor(-30_000) }
const ofOurAccount: Fields = { ...out, type: 'account' }

syncTest.for<[string, { ofPayment: boolean; fields: Fields }]>([
  ['a payment', { ofPayment: true, fields: {} }],
  ['a refund', { ofPayment: true, fields: { ...out, type: 'return', reversalKind: 'refund' } }],
  ['a withdrawal', { ofPayment: false, fields: { ...ofOurAccount, transfer: 'withdrawal' } }],
  [
    'a top-up',
    {
      ofPayment: false,
      fields: { ...ofOurAccount, transfer: 'topup', providerMinor: minor(30_000) },
    },
  ],
])(
  'the net of %s with the wrong sign: the books say false',
  async ([, { ofPayment, fields }], { deps, client, credited, sync }) => {
    const own = rowNow(deps, credited)
    const row = ofPayment
      ? rowNow(deps, credited, fields)
      : settledRow(foreignIds, deps.now(), fields)
    const isOwn = Object.keys(fields).length === 0
    const providerMinor = less(ZERO, row.providerMinor)
    // The adapter derives the fee of a payment's own row from its net.
    const keptMinor = isOwn ? less(row.amountMinor, providerMinor) : row.keptMinor
    const wrong = { ...row, providerMinor, keptMinor }
    await sync(...(isOwn ? [wrong] : [own, wrong]))
    // A payment's own row that contradicts itself waits for its seventh day.
    deps.clock.advance(8 * 86_400)
    await settle(deps, client)

    expect(await booksOf(deps)).toMatchObject({ balanced: false })
  },
)
