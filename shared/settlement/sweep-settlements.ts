import { mapInChunks } from '../chunks.ts'
import { clientIdPages } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'

/** Messages that are sent at the same time. */
const CONCURRENCY = 10

export type SweepSummary = { readonly clients: number }

/**
 * Starts the daily sweep (spec 3.2): one message per client, so that a slow or broken client delays no other. A run
 * that dies is started again; a client whose message comes twice is settled once.
 */
export const sweepSettlements = async (deps: Pick<Deps, 'table' | 'queues' | 'log'>): Promise<SweepSummary> => {
  let clients = 0
  for await (const clientIds of clientIdPages(deps)) {
    await mapInChunks(clientIds, CONCURRENCY, (clientId) =>
      deps.queues.send('settlements', { body: { client_id: clientId }, delaySeconds: 0, group: clientId }),
    )
    clients += clientIds.length
  }
  deps.log.info('sweep.completed', { clients })
  return { clients }
}
