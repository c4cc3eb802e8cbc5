import { findBank } from '../bank/bank-account.ts'
import type { Batch, PayoutLine } from '../settlement/batch/batch.ts'
import { csv } from '../settlement/statement/csv.ts'

export const PAYOUT_FORMATS = ['xlsx', 'provider', 'csv'] as const
export type PayoutFormat = (typeof PAYOUT_FORMATS)[number]

type Lines = { readonly batch: Pick<Batch, 'number'>; readonly lines: readonly PayoutLine[] }

/** Text stays text in the file, whatever it looks like. */
type Cell = string | number

type PayoutFile =
  | { readonly name: string; readonly rows: readonly (readonly Cell[])[] }
  | { readonly name: string; readonly text: string }

/** Our own columns. The bank, or the operator, fills in the last four. */
const COLUMNS = (
  'batch line settlement_id client_id amount bank_code bank_number bank_account_no ' +
  'bank_account_name description status bank_reference value_date reason'
).split(' ')

/** The columns of the provider's template for batch payouts, as read on 2026-11-26. */
const PROVIDER_COLUMNS = [
  'Reference ID',
  'Amount',
  'Channel Code',
  'Bank Account Name',
  'Bank Account Number',
  'Description',
  'Email',
  'Email CC',
  'Email BCC',
]

export const payoutFormats: Readonly<Record<PayoutFormat, (of: Lines) => PayoutFile>> = {
  xlsx: (of) => ({
    name: nameOf(of, '.xlsx'),
    rows: [COLUMNS, ...ownRows(of).map((row) => Object.values(row))],
  }),
  provider: (of) => ({
    name: nameOf(of, '-provider.xlsx'),
    rows: [PROVIDER_COLUMNS, ...of.lines.map(providerRow)],
  }),
  csv: (of) => ({ name: nameOf(of, '.csv'), text: csv(COLUMNS, ownRows(of)) }),
}

function nameOf({ batch }: Lines, ending: string) {
  return `payout-${String(batch.number).padStart(4, '0')}${ending}`
}

function ownRows({ batch, lines }: Lines) {
  return lines.map((line) => {
    const cells: Readonly<Record<string, Cell>> = {
      ...line,
      batch: batch.number,
      bank_number: findBank(line.bank_code)?.number ?? '',
      // The merchant sees it at its bank, and finds the settlement by it.
      description: line.settlement_id,
    }
    return Object.fromEntries(COLUMNS.map((name) => [name, String(cells[name] ?? '')]))
  })
}

function providerRow(line: PayoutLine) {
  return [
    line.settlement_id,
    line.amount,
    findBank(line.bank_code)?.channel ?? '',
    line.bank_account_name,
    line.bank_account_no,
    line.settlement_id,
    '',
    '',
    '',
  ]
}
