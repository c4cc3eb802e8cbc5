import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { quotaKey, quotaShareKey } from '../table/keys.ts'
import { absent, any, atMost, below, update } from '../table/step.ts'
import { epochMs, HOUR_MS, SECOND_MS, type Timestamp } from '../time.ts'
import type { ProviderOperation } from './provider.ts'
import type { QuotaWindow } from './provider-quota.ts'

type TableDeps = Pick<Deps, 'table'>

/** Longer than any clock skew between environments, so that no counter in use expires. */
const COUNTER_LIFE_MS = HOUR_MS

const counterTtl = (endsAt: Timestamp) => ({ ttl: Math.ceil((epochMs(endsAt) + COUNTER_LIFE_MS) / SECOND_MS) })

/** Takes all of `calls` from a window's rest, or none; a refusal answers the present counter. */
export const countCalls = (
  deps: TableDeps,
  operation: ProviderOperation,
  { number, limit, endsAt }: QuotaWindow,
  calls: number,
) =>
  deps.table.write(
    update(
      quotaKey(operation, number),
      { add: { taken: calls }, set: counterTtl(endsAt) },
      any(absent('taken'), atMost('taken', limit - calls)),
    ),
  )

/** Takes one call of a client's share of an operation in that minute; refused when the share is used. */
export const countClientCall = (
  deps: TableDeps,
  operation: ProviderOperation,
  clientId: ClientId,
  { number, limit, endsAt }: QuotaWindow,
) =>
  deps.table.write(
    update(
      quotaShareKey(operation, clientId, number),
      { add: { taken: 1 }, set: counterTtl(endsAt) },
      any(absent('taken'), below('taken', limit)),
    ),
  )
