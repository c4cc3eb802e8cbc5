import { sendForEachClient } from '../client/client-register.ts'
import type { Deps } from '../deps.ts'
import { addMs, DAY_MS } from '../time.ts'
import { recordedAmong, settlementIdsOf } from './settlement-store.ts'

/**
 * Starts the daily sweep (spec 3.2). Safe to repeat: a client whose message comes twice is settled
 * once.
 */
export async function sweepSettlements(deps: Pick<Deps, 'table' | 'queues' | 'log'>) {
  const clients = await sendForEachClient(deps, (clientId) =>
    deps.queues.send('settlements', {
      body: { client_id: clientId },
      delaySeconds: 0,
      group: clientId,
    }),
  )
  deps.log.info('sweep.completed', { clients })
  return { clients }
}

/** An operator pays out within a day, or after a weekend. */
const UNPAID_AFTER_MS = 3 * DAY_MS
/** The most settlements that one alert counts. It names the ten oldest. */
const LOOKED_AT = 100

/**
 * Reports, in one alert a day, settlements that were recorded three days ago and are not paid out.
 */
export async function alertUnpaidSettlements(deps: Pick<Deps, 'table' | 'alerts' | 'now' | 'log'>) {
  const page = await deps.table.query({
    index: 'by-due',
    partition: ['payout', 0],
    range: { atMost: addMs(deps.now(), -UNPAID_AFTER_MS) },
    limit: LOOKED_AT,
  })
  const { settlements, unreadableIds } = await recordedAmong(deps, settlementIdsOf(page.items))
  const ids = [...unreadableIds, ...settlements.map(({ settlementId }) => settlementId)]
  const [subject] = ids
  if (subject === undefined) return
  const [oldest] = settlements
  const since = oldest ? `, the oldest on ${oldest.createdAt}` : ''
  const { length } = unreadableIds
  const unreadable = length > 0 ? `; the first ${length} cannot be read` : ''
  await deps.alerts.publish({
    kind: 'settlement.unpaid',
    subject,
    message:
      `${ids.length}${page.cursor ? ' or more' : ''} settlements recorded three days ago or earlier are ` +
      `not paid${since}: ${ids.slice(0, 10).join(', ')}${unreadable}. The command ` +
      'today shows which wait for payout-file, and which the file of a batch may have paid.',
  })
  deps.log.info('settlement.unpaid', { settlements: ids.length })
}
