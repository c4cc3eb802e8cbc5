import * as v from 'valibot'
import type { Client } from '../client/client.ts'
import { findClient } from '../client/client-store.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { ledgerStand } from '../ledger/ledger-stand.ts'
import { MINUTE_MS } from '../time.ts'
import { auditLedger } from './audit-ledger.ts'
import type { Difference } from './difference.ts'
import { readableLedger } from './read-books.ts'
import { type Sealed, sealBooks } from './seal-books.ts'
import { keepSealedBooks, readSealedBooks } from './seal-store.ts'

type AuditDeps = Pick<Deps, 'table' | 'stage' | 'queues' | 'alerts' | 'sleep' | 'now' | 'monotonicMs' | 'log'>

/** How long a run seals, or audits: less than the five minutes its function has, with three looks behind it. */
const SEALING_MS = MINUTE_MS

/** What is not in the indexes by then is not late: it is missing. */
const SECOND_AUDIT_SECONDS = 300

const tell = async (deps: AuditDeps, clientId: ClientId, differences: readonly Difference[]): Promise<void> => {
  const [first] = differences
  await deps.alerts.publish({
    kind: 'audit.imbalance',
    subject: clientId,
    message:
      `The books of client ${clientId} do not balance: ${differences.length} differences, ` +
      `the first is ${first?.what} of ${first?.id}. Pay out nothing of it; audit-ledger lists them all.`,
  })
  deps.log.error('audit.imbalance', { client_id: clientId, differences: differences.length })
}

/** What cannot be read is not sealed, and told by the audit behind it. */
const sealReadable = async (deps: AuditDeps, client: Client, isOver: () => boolean): Promise<Sealed> => {
  try {
    return await sealBooks(deps, client, isOver)
  } catch (error) {
    if (v.isValiError(error)) return 'all'
    throw error
  }
}

/**
 * One client's part of the daily audit: seals what is right and final, and audits what is left. A client that has not
 * moved since it was last found right costs two reads. Histories of any length are sealed over several runs, each of
 * which sends for the next. An imbalance is looked for again five minutes later, since an index may be behind by more than
 * one audit takes, and is then told, each day until it is gone; telling it twice does no harm.
 */
export const auditClient = async (
  deps: AuditDeps,
  clientId: ClientId,
  { again }: { readonly again: boolean } = { again: false },
): Promise<void> => {
  const client = await findClient(deps, clientId)
  const ledger = await readableLedger(deps, clientId)
  if (client === undefined) return
  const stand = ledger && ledgerStand(ledger)
  if (stand !== undefined && (await readSealedBooks(deps, clientId)).balancedAs === stand) return
  const endsAtMs = deps.monotonicMs() + SEALING_MS
  const { pages } = deps.stage.historySteps ?? { pages: Number.POSITIVE_INFINITY }
  let read = 0
  const isOver = () => ++read >= pages || deps.monotonicMs() >= endsAtMs
  const sealed = ledger ? await sealReadable(deps, client, isOver) : 'all'
  // Whoever has overtaken it goes on with both.
  if (sealed === 'overtaken') return
  if (sealed === 'unfinished') {
    await deps.queues.send('audits', { body: { client_id: clientId, again }, delaySeconds: 0, group: clientId })
    return
  }
  const { balanced, differences } = await auditLedger(deps, clientId)
  deps.log.info('audit.completed', { client_id: clientId, balanced: String(balanced) })
  if (balanced === false && again) await tell(deps, clientId, differences)
  if (balanced === false && !again) {
    const body = { client_id: clientId, again: true }
    await deps.queues.send('audits', { body, delaySeconds: SECOND_AUDIT_SECONDS, group: clientId })
  }
  if (balanced !== true || stand === undefined) return
  const books = await readSealedBooks(deps, clientId)
  // Of what stood before all was read: whatever has moved since is looked at tomorrow.
  await keepSealedBooks(deps, clientId, { ...books, balancedAs: stand })
}
