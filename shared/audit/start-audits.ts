import { mapInChunks } from '../chunks.ts'
import { clientIdPages } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'

/** Messages sent side by side. */
const CONCURRENCY = 10

/**
 * The daily audit, and the comparison of the books: a message of each per client, so that a large or broken one holds up
 * nobody. Who has not moved is found out by a few reads, and left alone. Safe to repeat.
 */
export const startAudits = async (
  deps: Pick<Deps, 'table' | 'queues' | 'log'>,
): Promise<{ readonly clients: number }> => {
  let clients = 0
  for await (const clientIds of clientIdPages(deps)) {
    await mapInChunks(clientIds, CONCURRENCY, (clientId) =>
      deps.queues.send(
        'audits',
        { body: { client_id: clientId }, delaySeconds: 0, group: clientId },
        { body: { client_id: clientId, books: true }, delaySeconds: 0, group: clientId },
      ),
    )
    clients += clientIds.length
  }
  deps.log.info('audits.started', { clients })
  return { clients }
}
