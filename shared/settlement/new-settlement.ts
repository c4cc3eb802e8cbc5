import * as v from 'valibot'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { SettlementIdSchema, timeOrderedUuid } from '../ids.ts'
import type { Window } from '../ledger/window-store.ts'
import { epochMs, type Timestamp } from '../time.ts'
import type { EntrySums } from './entry-sums.ts'
import type { Settlement } from './settlement.ts'

export type SettleDeps = Pick<
  Deps,
  | 'stage'
  | 'table'
  | 'queues'
  | 'provider'
  | 'alerts'
  | 'sleep'
  | 'randomBytes'
  | 'now'
  | 'monotonicMs'
  | 'newId'
  | 'log'
  | 'invocation'
>

/** `operator` is present for a manual trigger, and then the audit record is too. */
export type SettleTrigger =
  | { readonly by: 'auto' }
  /** `requestId`: of the operator's invocation; later runs continue in the operator's name. */
  | { readonly by: 'manual'; readonly operator: string; readonly requestId?: string | undefined }

export type SummedUp = { readonly window: Window; readonly end: Timestamp; readonly sums: EntrySums }

/** The settlement of a summed window, with the present bank details (spec 2.3). Its id is chosen here. */
export const newSettlement = (
  deps: Pick<Deps, 'randomBytes' | 'now'>,
  client: Client,
  { window, end, sums }: SummedUp,
  triggeredBy: Settlement['triggeredBy'],
): Settlement => {
  const now = deps.now()
  return {
    settlementId: v.parse(SettlementIdSchema, timeOrderedUuid(epochMs(now), deps.randomBytes(10))),
    clientId: client.clientId,
    sweptFrom: window.settledUntil,
    sweptUntil: end,
    ...sums,
    currency: 'IDR',
    status: 'recorded',
    triggeredBy,
    previousId: window.lastSettlementId,
    bank: client.bank,
    createdAt: now,
  }
}
