import * as v from 'valibot'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { type SettlementId, SettlementIdSchema, timeOrderedUuid } from '../ids.ts'
import { epochMs, type Timestamp } from '../time.ts'
import type { Settlement } from './settlement.ts'
import type { WindowSums } from './sum-window.ts'

export type SettleDeps = Pick<
  Deps,
  | 'stage'
  | 'table'
  | 'queues'
  | 'sleep'
  | 'randomBytes'
  | 'provider'
  | 'now'
  | 'monotonicMs'
  | 'newId'
  | 'log'
  | 'alerts'
  | 'invocation'
>

/** `operator` is present for a manual trigger, and then the audit record is too. */
export type SettleTrigger =
  | { readonly by: 'auto' }
  /** `requestId`: of the operator's own invocation, where later runs go on in the operator's name. */
  | { readonly by: 'manual'; readonly operator: string; readonly requestId?: string | undefined }

export const newSettlementId = (deps: Pick<Deps, 'randomBytes'>, now: Timestamp): SettlementId =>
  v.parse(SettlementIdSchema, timeOrderedUuid(epochMs(now), deps.randomBytes(10)))

/** The settlement of a swept window, with the bank details of this moment (spec 2.3). */
export const newSettlement = (
  deps: Pick<Deps, 'randomBytes'>,
  client: Client,
  { period, sums, reversedParts }: Pick<WindowSums, 'period' | 'sums'> & { readonly reversedParts: number },
  triggeredBy: Settlement['triggeredBy'],
  now: Timestamp,
): Settlement => ({
  settlementId: newSettlementId(deps, now),
  clientId: client.clientId,
  periodStart: period.start,
  periodEnd: period.end,
  ...sums,
  currency: 'IDR',
  status: 'recorded',
  triggeredBy,
  bank: client.bank,
  createdAt: now,
  ...(reversedParts > 0 && { reversedCount: reversedParts }),
})
