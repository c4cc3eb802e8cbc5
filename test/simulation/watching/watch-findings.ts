import { text } from '../../support/recount/books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { type Rule, type Write, watchRules } from './rules.ts'

const rowsOf = ({ world, after }: Write) => {
  const payment = world.table.item({ pk: `PAYMENT#${text(after, 'payment_id')}`, sk: 'PAYMENT' })
  const own = payment?.['credited_provider_payment_id']
  const rows = world.provider.rowsAsTheyStand()
  return {
    payment,
    ofCapture: rows.filter(({ row }) => row.type === 'PAYMENT' && row.product_id === own && own !== undefined),
    ofReference: rows.filter(({ row }) => row.reference_id.startsWith(text(after, 'payment_id'))),
  }
}

const WENT_BACK = ['VOIDED', 'REVERSED']
const NO_MONEY = ['PENDING', 'FAILED']
const KNOWN = ['PAYMENT', 'REFUND', 'CHARGEBACK', 'CHARGEBACK_REVERSAL', 'ADJUSTMENT_DEDUCT', 'WITHDRAWAL']
const TURNS = ['REFUND', 'CHARGEBACK', 'ADJUSTMENT_DEDUCT']

/** Of a known type, of a status that moves nothing, and such that it can be read. */
const isNoMoney = ({ type, status, amount }: { type: string; status: string; amount: number }): boolean =>
  NO_MONEY.includes(status) && KNOWN.includes(type) && (type !== 'PAYMENT' || amount >= 0)

const ofFindings: readonly Rule<Write>[] = [
  [
    'finds another fee than the one it has, and no row shows one',
    (write) => {
      if (write.after['cause'] !== 'fee_changed') return false
      const { payment, ofCapture } = rowsOf(write)
      const fee = write.world.providerFees === 'invoiced' ? 0 : payment?.['provider_fee_minor']
      return ofCapture.every(({ row, settleAtMs }) => settleAtMs !== undefined || row.amount - row.net_amount === fee)
    },
  ],
  [
    'finds another amount than the one that was paid, and no row shows one',
    (write) => {
      if (write.after['cause'] !== 'amount_differs') return false
      const { payment, ofCapture } = rowsOf(write)
      return ofCapture.every(({ row }) => row.amount === payment?.['notional_minor'] && row.currency === 'IDR')
    },
  ],
  [
    'finds that money went back, and none has',
    (write) =>
      write.after['cause'] === 'reversed_upstream' &&
      write.after['suspense_id'] === `${text(write.after, 'payment_id')}#reversed_upstream` &&
      !rowsOf(write).ofReference.some(({ row }) => WENT_BACK.includes(row.status) || TURNS.includes(row.type)),
  ],
  [
    'finds money that cannot be explained where the provider says there is none',
    ({ world, after }) => {
      if (after['cause'] !== 'transaction_unexplained') return false
      const [subject = ''] = text(after, 'suspense_id').split('#')
      const rows = world.provider
        .rowsAsTheyStand()
        .filter(({ id, row }) => row.product_id === subject || id === subject)
      return rows.length > 0 && rows.every(({ row }) => isNoMoney(row))
    },
  ],
  [
    "finds what is the account's own affair",
    ({ world, after }) => {
      const [id] = text(after, 'suspense_id').split('#')
      const row = world.provider.rowsAsTheyStand().find((record) => record.id === id)?.row
      const isOwn = row?.type === 'WITHDRAWAL' && !row.status.startsWith('STATUS_OF')
      return isOwn && after['payment_id'] === undefined
    },
  ],
]

/** Checked when something is found: it is so, by the provider's own rows. A worker that is told of nothing looks no more. */
export const watchFindings = (world: World, seen: Observations): void =>
  watchRules(world, seen, ({ sk }, { isNew }) => (sk === 'SUSPENSE' && isNew ? ofFindings : []))
