import type { Deps } from '../deps.ts'
import { assertInvariant, invalid } from '../errors.ts'
import { payOutOfWindow } from '../ledger/window-store.ts'
import { recordChange } from '../operator/audit-record-store.ts'
import type { Step } from '../table/step.ts'
import { bankIsNewUntil, type Settlement } from './settlement.ts'
import { closeStep, findAnySettlement } from './settlement-store.ts'

export type CloseDeps = Pick<Deps, 'stage' | 'table' | 'now' | 'newId' | 'log' | 'invocation'>

/** What a settlement in this state can still become: the only steps that would not be refused. */
const nextStep = ({ status, recreditedAt }: Settlement): string => {
  switch (status) {
    case 'recorded':
      return 'Only a failed settlement can be recredited: mark-settlement-failed first.'
    case 'manual_paid':
      return 'It is paid out, which is final; list-settlements shows it.'
    case 'failed':
      return recreditedAt === undefined
        ? 'It has failed, which is final; recredit-settlement makes its funds available again.'
        : 'It has failed, which is final, and its funds are available again; the next settlement has them.'
  }
}

export const wrongState = (action: string, settlement: Settlement) =>
  invalid(`settlement cannot be ${action} in status=${settlement.status}`, undefined, nextStep(settlement))

export const statusRecord = ({ status, settledAt, recreditedAt }: Settlement) => ({
  status,
  settled_at: settledAt ?? null,
  recredited_at: recreditedAt ?? null,
})

const close = async (
  deps: CloseDeps,
  before: Settlement,
  after: Settlement,
  by: { readonly operator: string; readonly action: string; readonly noted?: object; readonly window?: Step },
): Promise<Settlement> => {
  const record = {
    subject: before.settlementId,
    clientId: before.clientId,
    operator: by.operator,
    action: by.action,
    before: statusRecord(before),
    after: { ...statusRecord(after), notes: after.notes ?? null, ...by.noted },
  }
  const outcome = await recordChange(deps, record, { settlement: closeStep(after), window: by.window })
  if (!outcome.applied) {
    assertInvariant(outcome.refusedBy !== 'window', 'a client has no settlement window')
    throw wrongState('closed', await findAnySettlement(deps, before.settlementId))
  }
  deps.log.info('settlement.closed', { settlement_id: after.settlementId, status: after.status })
  return after
}

/** What an operator says to have looked at: the figures that the 422 shows under `confirm`. */
export type Confirm = { readonly newBank?: boolean | undefined; readonly unprovenMinor?: number | undefined }

const toConfirm = (settlement: Settlement, now: string): Confirm => ({
  ...(now < (bankIsNewUntil(settlement) ?? '') && { newBank: true }),
  ...(settlement.unprovenMinor !== 0 && { unprovenMinor: settlement.unprovenMinor }),
})

const notConfirmed = ({ newBank, unprovenMinor }: Confirm) =>
  invalid(
    'this settlement needs a look before it is paid out',
    {
      confirm: [
        ...(newBank ? ['new_bank: its bank details are younger than 72 hours'] : []),
        ...(unprovenMinor === undefined ? [] : [`unproven: no settled row proves ${unprovenMinor} IDR of it`]),
      ],
    },
    'See get-settlement-statement. If all is right, repeat with "confirm" as listed here.',
  )

export type Close = { readonly settlementId: string; readonly operator: string }

/**
 * `recorded` -> `manual_paid`: the operator has made the bank transfer (spec 3.2). Settlement, window and audit record in
 * one transaction; once; terminal. Refused while something about it is not confirmed.
 */
export const markSettlementPaid = async (
  deps: CloseDeps,
  input: Close & { readonly bankReference: string; readonly notes: string | undefined; readonly confirm?: Confirm },
): Promise<Settlement> => {
  const settlement = await findAnySettlement(deps, input.settlementId)
  if (settlement.status !== 'recorded') throw wrongState('marked paid', settlement)
  const now = deps.now()
  const wanted = toConfirm(settlement, now)
  const { newBank, unprovenMinor } = input.confirm ?? {}
  if (wanted.newBank !== newBank || wanted.unprovenMinor !== unprovenMinor) throw notConfirmed(wanted)
  const paid: Settlement = {
    ...settlement,
    status: 'manual_paid',
    settledAt: now,
    bankReference: input.bankReference,
    notes: input.notes ?? settlement.notes,
  }
  return close(deps, settlement, paid, {
    operator: input.operator,
    action: 'mark-settlement-paid',
    window: payOutOfWindow(paid.clientId, paid.netMinor),
    noted: { bank_reference: input.bankReference, confirm: { new_bank: newBank, unproven: unprovenMinor } },
  })
}

/** `recorded` -> `failed`: the bank refused the transfer. Funds are not re-credited by it (spec 3.2). Terminal. */
export const markSettlementFailed = async (
  deps: CloseDeps,
  input: Close & { readonly notes: string },
): Promise<Settlement> => {
  const settlement = await findAnySettlement(deps, input.settlementId)
  if (settlement.status !== 'recorded') throw wrongState('marked failed', settlement)
  const failed: Settlement = { ...settlement, status: 'failed', notes: input.notes }
  return close(deps, settlement, failed, { operator: input.operator, action: 'mark-settlement-failed' })
}
