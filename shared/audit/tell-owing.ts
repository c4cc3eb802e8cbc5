import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { getBalance } from '../ledger/balance.ts'
import { DAY_MS, msBetween } from '../time.ts'
import type { ClientVerdict } from '../verdict/client-verdict-store.ts'

/**
 * A negative balance is reported after this time, and again after each such time: new payments usually cover it before.
 */
const PATIENCE_MS = 7 * DAY_MS

type Owing = Pick<ClientVerdict, 'owesSince' | 'owesToldAt'>

/**
 * Alerts operators, once a week, about a client that has owed us money for a week (design section 10). Answers what the
 * verdict keeps; nothing once the balance is no longer negative.
 */
export const tellOwing = async (
  deps: Pick<Deps, 'table' | 'alerts' | 'now'>,
  clientId: ClientId,
  { owesSince, owesToldAt }: Owing,
): Promise<Owing> => {
  const { pendingMinor, availableMinor } = await getBalance(deps, clientId)
  const owedMinor = -(pendingMinor + availableMinor)
  if (owedMinor <= 0) return { owesSince: undefined, owesToldAt: undefined }
  const now = deps.now()
  const since = owesSince ?? now
  if (msBetween(owesToldAt ?? since, now) < PATIENCE_MS) return { owesSince: since, owesToldAt }
  await deps.alerts.publish({
    kind: 'client.owes',
    subject: clientId,
    message:
      `Client ${clientId} has owed ${owedMinor} IDR since ${since}: more of its money went back than came in. ` +
      'No settlement is made before new payments cover it. adjust-ledger writes down what it pays back by bank ' +
      '(recovered), or what is given up (written_off).',
  })
  return { owesSince: since, owesToldAt: now }
}
