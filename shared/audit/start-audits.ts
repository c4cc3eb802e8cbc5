import { mapInChunks } from '../chunks.ts'
import { clientIdPages } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'

/** Messages that are sent at the same time. */
const CONCURRENCY = 10

/**
 * Starts the daily audit: a message for each client, so that a large or broken one delays no other, and one for what
 * belongs to no client. Safe to repeat.
 */
export const startAudits = async (
  deps: Pick<Deps, 'table' | 'queues' | 'log'>,
): Promise<{ readonly clients: number }> => {
  await deps.queues.send('audits', { body: { gateway: true }, delaySeconds: 0, group: 'gateway' })
  let clients = 0
  for await (const clientIds of clientIdPages(deps)) {
    await mapInChunks(clientIds, CONCURRENCY, (clientId) =>
      deps.queues.send('audits', { body: { client_id: clientId }, delaySeconds: 0, group: clientId }),
    )
    clients += clientIds.length
  }
  deps.log.info('audits.started', { clients })
  return { clients }
}
