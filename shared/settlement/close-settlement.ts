import type { Deps } from '../deps.ts'
import { assertInvariant, invalid } from '../errors.ts'
import { recordChange } from '../operator/audit-record-store.ts'
import type { Step } from '../table/step.ts'
import { type ProviderFunding, providerFunding } from './provider-funding.ts'
import { bankIsNewUntil, reversalsToConfirm, type Settlement } from './settlement.ts'
import { closeStep, findAnySettlement } from './settlement-store.ts'
import { payOutStep } from './window-store.ts'

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
        ? 'It has failed, which is final; recredit-settlement puts its funds back to available.'
        : 'It has failed, which is final, and its funds went back to available; a later settlement pays them out.'
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
    const current = await findAnySettlement(deps, before.settlementId)
    throw current.status === 'recorded' ? reversed(current) : wrongState('closed', current)
  }
  deps.log.info('settlement.closed', { settlement_id: after.settlementId, status: after.status })
  return after
}

/** Twenty pages of a million bytes are read in a few seconds; a larger window is counted by one try after another. */
const PAGES_LOOKED_AT = 20

const unfunded = ({ unfundedMinor, isWhole }: ProviderFunding) =>
  isWhole
    ? invalid(
        `the provider has not paid us ${unfundedMinor} IDR of this settlement yet`,
        { confirm_unfunded: ['required: money would leave before it has arrived'] },
        'See get-settlement-statement. Wait for the provider, or repeat with "confirm_unfunded": true.',
      )
    : invalid(
        `of ${unfundedMinor} IDR of this settlement it is not counted yet whether the provider has paid us`,
        { confirm_unfunded: ['required: money might leave before it has arrived'] },
        'Repeat: each try counts on from where the last one ended. Or repeat with "confirm_unfunded": true.',
      )

const newBank = ({ bank }: Settlement) =>
  invalid(
    `the bank details of this settlement were replaced on ${bank?.since ?? '?'}`,
    { confirm_new_bank: ['required: the account is new'] },
    'Ask the merchant, by a way you knew before, whether it changed them; then repeat with "confirm_new_bank": true.',
  )

const reversed = (settlement: Settlement) => {
  const reversedCount = reversalsToConfirm(settlement)
  const payments = [...(settlement.reversedPaymentIds ?? [])].slice(0, MOST_NAMED).join(', ')
  return invalid(
    `money of this settlement’s payments has gone back ${reversedCount} times since, or in part before`,
    { confirm_reversed: [`required: ${reversedCount}, the number you have looked at`] },
    `See list-suspense for what is owed${payments === '' ? '' : `, and get-payment of ${payments}`}. Fail and recredit it to leave whole payments out; or repeat with "confirm_reversed": ${reversedCount}, and what is owed stays open.`,
  )
}

/** Payments that a hint names; list-suspense has all of them. */
const MOST_NAMED = 10

export type Close = { readonly settlementId: string; readonly operator: string }

/**
 * `recorded` -> `manual_paid`: the operator has made the bank transfer (spec 3.2). Refused while the provider has not
 * paid us all of it, while the account is new, and when money of its payments has gone back, unless the operator says
 * that is known. Once; terminal.
 */
export const markSettlementPaid = async (
  deps: CloseDeps,
  input: Close & {
    readonly notes: string | undefined
    readonly confirmUnfunded: boolean
    readonly confirmNewBank?: boolean
    readonly confirmReversed?: number | undefined
  },
): Promise<Settlement> => {
  const settlement = await findAnySettlement(deps, input.settlementId)
  if (settlement.status !== 'recorded') throw wrongState('marked paid', settlement)
  const isNew = deps.now() < (bankIsNewUntil(settlement) ?? '')
  if (isNew && !input.confirmNewBank) throw newBank(settlement)
  if (reversalsToConfirm(settlement) !== (input.confirmReversed ?? 0)) throw reversed(settlement)
  if (!input.confirmUnfunded) {
    const funding = await providerFunding(deps, settlement, PAGES_LOOKED_AT)
    if (funding.unfundedMinor > 0) throw unfunded(funding)
  }
  const paid: Settlement = {
    ...settlement,
    status: 'manual_paid',
    settledAt: deps.now(),
    notes: input.notes ?? settlement.notes,
  }
  return close(deps, settlement, paid, {
    operator: input.operator,
    action: 'mark-settlement-paid',
    window: payOutStep(paid.clientId, paid.settlementId, paid.netMinor),
    // Who let money leave before it had arrived, to a new account, or after it went back, must stay visible.
    noted: {
      confirm_unfunded: input.confirmUnfunded,
      ...(isNew && { confirm_new_bank: true }),
      ...(input.confirmReversed !== undefined && { confirm_reversed: input.confirmReversed }),
    },
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
