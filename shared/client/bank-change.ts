import type { Deps } from '../deps.ts'
import type { Timestamp } from '../time.ts'
import type { Bank, BankAccount, Client } from './client.ts'

const isSameAccount = (a: BankAccount, b: BankAccount): boolean =>
  a.bankName === b.bankName && a.bankAccountNo === b.bankAccountNo && a.bankAccountName === b.bankAccountName

/**
 * Bank details as they are stored: when they were entered, and whether they are a change: they replaced others, or came
 * after the client's first credit. The same details again are no change.
 */
export const enteredBank = (
  before: Pick<Client, 'bank' | 'hadBank'>,
  bank: BankAccount | null | undefined,
  { isCredited, now }: { readonly isCredited: boolean; readonly now: Timestamp },
): Bank | null | undefined => {
  if (!bank) return bank
  if (before.bank && isSameAccount(before.bank, bank)) return before.bank
  const isChange = before.bank !== undefined || before.hadBank === true || isCredited
  return { ...bank, since: now, ...(isChange && { isChange: true }) }
}

const shown = (bank: BankAccount | undefined): string =>
  bank === undefined ? 'none' : quoted(`${bank.bankName} …${bank.bankAccountNo.slice(-SHOWN_DIGITS)}`)
/** Quotes what a person typed, so that it cannot pass for our own sentence. */
const quoted = (typed: string): string => JSON.stringify(typed)
const SHOWN_DIGITS = 4

/**
 * Alerts operators before bank details change. A crash after the alert leaves an alert too many, never an unreported
 * change. If the alert cannot be published, the change does not happen.
 */
export const tellBankChange = async (
  deps: Pick<Deps, 'alerts' | 'log' | 'invocation'>,
  { clientId, operator }: { readonly clientId: Client['clientId']; readonly operator: string },
  from: BankAccount | undefined,
  to: BankAccount,
): Promise<void> => {
  await deps.alerts.publish({
    kind: 'client.bank_changed',
    subject: clientId,
    message:
      `Client ${clientId} gets other bank details by request ${deps.invocation?.requestId ?? 'unknown'}. ` +
      'Ask the merchant, by a way you knew before, whether it wants that. list-audit shows whether it was done. ' +
      `Typed by the operator: from ${shown(from)} to ${shown(to)}, as operator ${quoted(operator)}.`,
  })
  deps.log.info('client.bank_changed', { client_id: clientId })
}
