import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { absent, any, below } from '../table/condition.ts'
import { rateKey, rateWindowKey } from '../table/keys.ts'
import { update } from '../table/step.ts'

type TableDeps = Pick<Deps, 'table'>

/** Long enough that no clock skew between environments can lose a counter that is still in use. */
const COUNTER_LIFE_SECONDS = 3_600

const counterTtl = (second: number) => ({ ttl: second + COUNTER_LIFE_SECONDS })

/** Adds what an environment has let pass to its client's window, and answers what all together have. */
export const reportRequests = (
  deps: TableDeps,
  clientId: ClientId,
  window: number,
  { second, ...add }: { readonly second: number; readonly requests: number; readonly environments: number },
) => deps.table.write(update(rateWindowKey(clientId, window), { add, set: counterTtl(second) }))

/** Counts requests of one second; refused where there are `room` of all environments already. */
export const countRequests = (
  deps: TableDeps,
  clientId: ClientId,
  second: number,
  { requests, room }: { readonly requests: number; readonly room: number },
) =>
  deps.table.write(
    update(
      rateKey(clientId, second),
      { add: { requests }, set: counterTtl(second) },
      any(absent('requests'), below('requests', room)),
    ),
  )
