import type { Deps } from '../deps.ts'
import type { Timestamp } from '../time.ts'
import type { Bank, BankAccount, Client } from './client.ts'

const isSameAccount = (a: BankAccount, b: BankAccount): boolean =>
  a.bankName === b.bankName && a.bankAccountNo === b.bankAccountNo && a.bankAccountName === b.bankAccountName

/**
 * Bank details as they are kept: since when, and whether they are a change: they replaced others, or came after the client's
 * first credit. The same again is no change.
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
/** What a person typed, so that none of it passes for a sentence of ours. */
const quoted = (typed: string): string => JSON.stringify(typed)
const SHOWN_DIGITS = 4

/**
 * Tells the operators that money is to go elsewhere, before it is: a crash after it leaves an alert too many, never a
 * change that was not told. An alert that cannot be published keeps the change from happening.
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
