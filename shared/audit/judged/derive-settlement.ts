import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { timeOfUuid } from '../../ids.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import { type Settlement, SettlementSchema } from '../../settlement/settlement.ts'
import type { EntrySums } from '../../settlement/sum-entries.ts'
import { addMs, later, MINUTE_MS, type Timestamp, timestampOf } from '../../time.ts'
import type { ClientBooks } from './client-books.ts'
import { bankIn, saidAs } from './derive-client.ts'

type Sources = { readonly sums: EntrySums; readonly records: readonly AuditRecord[] }

/**
 * The settlement as its client, its entries and its operators' records determine it. `auditChain`
 * compares its window with the settlement before it.
 */
export function derivedSettlement(
  settlement: Settlement,
  { clientId, clientRecords }: Pick<ClientBooks, 'clientId' | 'clientRecords'>,
  { sums, records }: Sources,
): Settlement {
  const { settlementId, createdAt } = settlement
  // The id is chosen when the sum begins, perhaps by a process with a faster clock.
  const idTime = timestampOf(timeOfUuid(settlementId))
  return {
    ...settlement,
    clientId,
    createdAt: later(createdAt, addMs(idTime, -5 * MINUTE_MS)),
    ...sums,
    bank: bankOf(settlement, registeredBanks(clientRecords)),
    ...recordedState(records),
  }
}

const Said = v.partial(
  v.pick(SettlementSchema, [
    'notes',
    'batch',
    'bankReference',
    'settledAt',
    'recreditedAt',
    'returnedAt',
  ]),
)

/** What operators have done with the settlement. */
export function recordedState(records: readonly AuditRecord[]): Partial<Settlement> {
  const by = (action: string) => records.find((record) => record.action === action)
  const saidBy = (record: AuditRecord | undefined) => saidAs(Said, record?.after)
  const [paid, failed] = [by('mark-settlement-paid'), by('mark-settlement-failed')]
  const closed = saidBy(paid ?? failed)
  const claim = records.findLast(({ action }) => action === 'payout-file')
  return {
    status: paid ? 'manual_paid' : failed ? 'failed' : 'recorded',
    triggeredBy: by('trigger-settlement') ? 'manual' : 'auto',
    notes: closed?.notes,
    batch: saidBy(claim)?.batch,
    bankReference: paid && closed?.bankReference,
    settledAt: paid && closed?.settledAt,
    returnedAt: saidBy(by('return-payout'))?.returnedAt,
    recreditedAt: saidBy(by('recredit-settlement'))?.recreditedAt,
  }
}

/** The bank details of a client from a time on, as an audit record shows them. */
type Registration = { readonly at: Timestamp; readonly bank: Settlement['bank'] }

/**
 * A settlement is paid out to an account that its client was registered with when it was recorded.
 */
export function bankOf(
  { bank, createdAt }: Pick<Settlement, 'bank' | 'createdAt'>,
  registrations: readonly Registration[],
): Settlement['bank'] {
  // A settlement reads its client shortly before it is recorded, and clocks differ a little.
  const [from, until] = [addMs(createdAt, -15 * MINUTE_MS), addMs(createdAt, MINUTE_MS)]
  // Two records of one millisecond have no order: both count.
  const endOf = (start: Timestamp) => registrations.find(({ at }) => at > start)?.at ?? until
  const possible = registrations.filter(({ at }) => at <= until && endOf(at) >= from)
  const isRegistered = possible.some((registration) => isDeepStrictEqual(registration.bank, bank))
  return isRegistered || possible.length === 0 ? bank : possible.at(-1)?.bank
}

export function registeredBanks(records: readonly AuditRecord[]) {
  const registrations: Registration[] = []
  for (const record of records) {
    const bank = bankIn(record.after)
    if (bank === undefined) continue
    const [last, writtenAt] = [registrations.at(-1), record.at]
    // A slow clock must not put a change before the previous change.
    const at = last && writtenAt <= last.at ? addMs(last.at, 1) : writtenAt
    registrations.push({ at, bank: bank ?? undefined })
  }
  return registrations
}
