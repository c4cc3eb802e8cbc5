import { listClients } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'

type SweepDeps = Pick<Deps, 'table' | 'sleep' | 'random' | 'queues' | 'log'>

const PAGE = 100

/** One million clients: beyond it the sweep says so instead of running into its time limit unseen. */
const MAX_PAGES = 10_000

/** Messages sent side by side. */
const AT_ONCE = 10

export type SweepSummary = { readonly clients: number }

/**
 * The daily sweep (spec 3.2): one message per client, so that a slow or broken client holds up nobody. A run that dies
 * is started again: a client whose message comes twice is settled once.
 */
export const sweepSettlements = async (deps: SweepDeps): Promise<SweepSummary> => {
  let clients = 0
  for (let page = 1; ; page++) {
    if (page > MAX_PAGES) throw new Error('too many clients for one sweep')
    const found = await listClients(deps, { page, perPage: PAGE })
    if (found.length === 0) break
    for (let at = 0; at < found.length; at += AT_ONCE) {
      await Promise.all(
        found
          .slice(at, at + AT_ONCE)
          .map(({ clientId }) =>
            deps.queues.send('settlements', { body: { client_id: clientId }, delaySeconds: 0, group: clientId }),
          ),
      )
    }
    clients += found.length
  }
  deps.log.info('sweep.completed', { clients })
  return { clients }
}
