import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'

/** One client's part of the daily audit. */
export const auditClient = async (_deps: Pick<Deps, 'table'>, _clientId: ClientId): Promise<void> => undefined
