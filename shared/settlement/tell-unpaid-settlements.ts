import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { foundKey } from '../table/keys.ts'
import { addMs, DAY_MS } from '../time.ts'
import { SettlementSchema } from './settlement.ts'

/** A payout is an operator's work of one day, and a weekend may lie between. */
const PATIENCE_MS = 3 * DAY_MS
/** Oldest first: whoever has more than these to pay out knows it without a number. */
const LOOKED_AT = 100
const NAMED = 10

/**
 * Tells the operators, in one alert, which settlements were recorded three days ago and are not paid out. Each day until
 * they are: telling it twice does no harm, and a day that was missed is made up for by the next.
 */
export const tellUnpaidSettlements = async (deps: Pick<Deps, 'table' | 'alerts' | 'now' | 'log'>): Promise<void> => {
  const range = { atMost: addMs(deps.now(), -PATIENCE_MS) }
  const page = await deps.table.query({ index: 'by-due', partition: ['payout', 0], range, limit: LOOKED_AT })
  const items = await deps.table.getMany(page.items.map((row) => foundKey('SETTLEMENT', row)))
  const unpaid = items
    .flatMap((item) => (item ? [v.parse(SettlementSchema, item)] : []))
    .filter(({ status }) => status === 'recorded')
  const [oldest] = unpaid
  if (oldest === undefined) return
  const ids = unpaid.slice(0, NAMED).map(({ settlementId }) => settlementId)
  await deps.alerts.publish({
    kind: 'settlement.unpaid',
    subject: oldest.settlementId,
    message:
      `${unpaid.length}${page.cursor ? ' or more' : ''} settlements were recorded three days ago or earlier and are ` +
      `not paid out, the oldest on ${oldest.createdAt}: ${ids.join(', ')}. Their merchants wait for money; ` +
      'list-settlements --status recorded shows all.',
  })
  deps.log.info('settlement.unpaid', { settlements: unpaid.length })
}
