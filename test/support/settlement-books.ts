import { amount, type Books, clientOf, kept, type RawItem, sum, text } from './books.ts'

/** Payments that went back of the settlements that one stands for. */
const goneBefore = (settlement: RawItem, all: readonly RawItem[]): ReadonlySet<unknown> => {
  const before = all.find(({ settlement_id: id }) => id === settlement['replaces'])
  if (before === undefined) return new Set()
  const own = (before['reversed_payment_ids'] as ReadonlySet<unknown> | undefined) ?? new Set()
  return new Set([...own, ...goneBefore(before, all)])
}

/** The payments that a settlement pays out. */
export const settledIn = (
  settlement: RawItem,
  { payments, settlements, reversals }: Pick<Books, 'payments' | 'settlements' | 'reversals'>,
): readonly RawItem[] => {
  const gone = goneBefore(settlement, settlements)
  return kept(payments, reversals).filter(
    (payment) =>
      payment['client_id'] === settlement['client_id'] &&
      !gone.has(payment['payment_id']) &&
      text(payment, 'paid_at') >= text(settlement, 'period_start') &&
      text(payment, 'paid_at') < text(settlement, 'period_end'),
  )
}

export const settlementProblems = ({ payments, settlements, reversals }: Books): string[] => {
  const problems: string[] = []
  for (const settlement of settlements) {
    const id = text(settlement, 'settlement_id')
    const paid = settledIn(settlement, { payments, settlements, reversals })
    const pairs = [
      ['notional_minor', 'gross_minor'],
      ['provider_fee_minor', 'provider_fees_minor'],
      ['markup_minor', 'markup_minor'],
      ['net_minor', 'net_minor'],
    ] as const
    for (const [of, field] of pairs) {
      if (sum(paid, of) !== amount(settlement, field)) problems.push(`settlement ${id}: ${field} is not its payments'`)
    }
    if (paid.length !== settlement['payment_count'])
      problems.push(`settlement ${id}: payment_count is not its payments'`)
    if (paid.some((payment) => payment['fee_status'] === 'estimated'))
      problems.push(`settlement ${id}: an estimated fee`)
  }
  const live = settlements.filter(({ status }) => status !== 'failed')
  for (const payment of payments.filter(({ status }) => status === 'succeeded')) {
    const holding = live.filter(
      (settlement) =>
        settlement['client_id'] === payment['client_id'] &&
        text(payment, 'paid_at') >= text(settlement, 'period_start') &&
        text(payment, 'paid_at') < text(settlement, 'period_end'),
    )
    if (holding.length > 1) problems.push(`payment ${text(payment, 'payment_id')} is in ${holding.length} settlements`)
  }
  return problems
}

/** Nothing falls before its client's first window, or between two: what the window has passed is in one settlement. */
export const leftOutProblems = ({ payments, windows, settlements }: Books): string[] =>
  windows.flatMap((window) => {
    const swept = settlements.filter((item) => item['client_id'] === clientOf(window) && item['replaces'] === undefined)
    return payments
      .filter((payment) => payment['client_id'] === clientOf(window) && payment['status'] === 'succeeded')
      .filter((payment) => text(payment, 'paid_at') < text(window, 'settled_until'))
      .filter(
        (payment) =>
          !swept.some(
            (item) =>
              text(payment, 'paid_at') >= text(item, 'period_start') &&
              text(payment, 'paid_at') < text(item, 'period_end'),
          ),
      )
      .map((payment) => `payment ${text(payment, 'payment_id')} fell before every settlement`)
  })
