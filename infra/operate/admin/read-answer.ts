import * as v from 'valibot'
import { accountDigits } from '../../../shared/bank/bank-account.ts'
import type { AnswerLine } from '../../../shared/payout/answer-payouts.ts'
import { isShortened } from '../../../shared/text-field.ts'
import { UsageError } from '../../local/terminal/command-line.ts'
import type { SheetRow } from './read-tables.ts'

type RefusedLine = { readonly line: number; readonly id: string; readonly reason: string }

type Answer = {
  readonly lines: readonly AnswerLine[]
  readonly refused: readonly RefusedLine[]
  /** Lines of money that came in. */
  readonly passedOver: number
}

/** How our file, the provider's report and banks name a column. The first that exists counts. */
const COLUMNS: Readonly<Record<keyof Cells, string>> = {
  id: 'settlement_id, reference id, external id, reference',
  description: 'description, remark, remarks, berita, keterangan, notes',
  amount: 'amount, nominal, jumlah, transfer amount, amount (idr), net amount',
  account:
    'bank_account_no, bank account number, account number, account no, destination account, ' +
    'beneficiary account, beneficiary account number, no rekening, nomor rekening, ' +
    'no. rekening, rekening tujuan, rekening',
  reference:
    'bank_reference, bank reference, transaction id, payout id, disbursement id, id transaksi, ' +
    'reference no, reference no., reference number, no referensi, no. referensi, ' +
    'nomor referensi, ref no, channel reference',
  status: 'status, transaction status, status transaksi',
  reason: 'reason, failure reason, failure code, error, error message, alasan',
  valueDate: 'value_date',
  batch: 'batch',
  type: 'type',
}

/** A cell is empty where the file has no such column. */
const CellsSchema = v.object(
  v.entriesFromList(
    [
      'id',
      'description',
      'amount',
      'account',
      'reference',
      'status',
      'reason',
      'valueDate',
      'batch',
      'type',
    ],
    v.string(),
  ),
)
type Cells = v.InferOutput<typeof CellsSchema>

const OUTCOMES: Readonly<Record<string, AnswerLine['outcome']>> = {
  ...outcomes('paid', 'paid done success successful succeeded completed settled berhasil sukses'),
  ...outcomes(
    'failed',
    'failed failure rejected returned gagal ditolak compliance_rejected reversed voided cancelled',
  ),
}

/** Banks write some lines about the account first. */
const MOST_LINES_BEFORE = 30

/**
 * Reads the bank's answer from the table whose columns are known. Throws `UsageError` for a table
 * that is unknown or does not say what was paid.
 */
export function readAnswer(path: string, tables: readonly (readonly SheetRow[])[]) {
  for (const rows of tables) {
    const head = rows.slice(0, MOST_LINES_BEFORE).findIndex((row) => isHead(row))
    const columns = rows[head]
    if (columns === undefined) continue
    if (!isOurs(columns) && placeOf(columns, COLUMNS.status) < 0)
      throw new UsageError(
        `${path} has no column status, so it does not say what was paid. Add it: paid or failed.`,
      )
    return answerIn(columns, rows.slice(head + 1), head + 2)
  }
  throw new UsageError(
    `${path} has no line with the columns settlement_id (or description), amount and ` +
      'bank_account_no. Fill in the file of payout-file, or give the report of the provider.',
  )
}

function isHead(row: SheetRow) {
  const has = (names: string) => placeOf(row, names) >= 0
  const hasId = has(COLUMNS.id) || has(COLUMNS.description)
  return hasId && has(COLUMNS.amount) && has(COLUMNS.account)
}

/** The operator filled in the file of payout-file, where a reference says that a line is paid. */
function isOurs(head: SheetRow) {
  return placeOf(head, 'settlement_id') >= 0 && placeOf(head, 'bank_reference') >= 0
}

function placeOf(head: SheetRow, known: string) {
  const names = head.map((name) => name.trim().toLowerCase())
  const found = known.split(', ').find((name) => names.includes(name))
  return found === undefined ? -1 : names.indexOf(found)
}

function answerIn(head: SheetRow, rows: readonly SheetRow[], firstLine: number): Answer {
  const places = Object.entries(COLUMNS).map(
    ([column, names]) => [column, placeOf(head, names)] as const,
  )
  const filled = isOurs(head) ? filledIn : withReference
  const read = rows.flatMap((row, at) => {
    const named = places.map(([column, place]) => [column, cellIn(row, place)])
    const cells = v.parse(CellsSchema, Object.fromEntries(named))
    return lineFrom(filled(cells), row, firstLine + at, head.length) ?? []
  })
  const isPassedOver = (row: SheetRow) => MONEY_IN.test(cellIn(row, placeOf(head, COLUMNS.type)))
  return { ...withoutRepeats(read), passedOver: rows.filter(isPassedOver).length }
}

/** Our file needs no status where the operator filled in a reference. */
function filledIn(cells: Cells) {
  const isPaidLine = cells.status === '' && cells.reference !== '' && cells.reason === ''
  return isPaidLine ? { ...cells, status: 'paid' } : cells
}

/** A bank's own `Reference` is no id of ours. */
function withReference(cells: Cells) {
  const isOther = cells.reference !== '' || UUID.test(cells.id)
  return isOther ? cells : { ...cells, reference: cells.id }
}

/** Some programs mark text with an apostrophe. */
function cellIn(row: SheetRow, place: number) {
  return (row[place] ?? '').trim().replace(/^'/, '')
}

type ReadLine = AnswerLine | RefusedLine

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
const TOTALS = /^(grand |sub)?total\b|^jumlah\b/i
const PAYOUT_TYPES = /disburse|payout/i
/** How the provider's report names money that came in. Its line may have an id and an account. */
const MONEY_IN = /^payment$/i

/** Undefined: the line is about no payout. */
function lineFrom(cells: Cells, row: SheetRow, line: number, width: number): ReadLine | undefined {
  if (row.every((cell) => cell.trim() === '')) return undefined
  const found = UUID.exec(cells.id) ?? UUID.exec(cells.description)
  if (MONEY_IN.test(cells.type)) return undefined
  const isOfAccount = found !== null || hasAccount(cells)
  const isOtherType = cells.type !== '' && !PAYOUT_TYPES.test(cells.type)
  if (!isOfAccount && (isOtherType || row.some((cell) => TOTALS.test(cell.trim()))))
    return undefined
  const id = found?.[0].toLowerCase() ?? ''
  const refuse = (reason: string) => ({ line, id, reason })
  if (isOtherType) return refuse(`the type "${cells.type}" is no payout`)
  if (!found) return refuse('it names no settlement')
  // An amount without quotes may have moved others, the last ones into empty columns.
  if (row.length > width) return refuse('it has more cells than the head')
  const shortened = (['amount', 'account', 'reference'] as const).find((name) =>
    isShortened(cells[name]),
  )
  if (shortened)
    return refuse(`the ${shortened} ${cells[shortened]} was shortened by a spreadsheet`)
  const amount = amountIn(cells.amount)
  if (amount === undefined) return refuse(`the amount "${cells.amount}" is no whole amount`)
  if (cells.account === '') return refuse('it has no account number')
  const outcome = OUTCOMES[cells.status.toLowerCase().replaceAll(' ', '_')]
  if (outcome === undefined) return refuse(unfinished(cells))
  if (cells.batch !== '' && !/^\d+$/.test(cells.batch))
    return refuse(`the batch "${cells.batch}" is no number`)
  return {
    line,
    settlement_id: id,
    amount_minor: amount,
    bank_account_no: accountDigits(cells.account) ?? cells.account,
    outcome,
    bank_reference: cells.reference || undefined,
    value_date: cells.valueDate || undefined,
    reason: printable(cells.reason) || undefined,
    batch: cells.batch === '' ? undefined : Number(cells.batch),
  }
}

function hasAccount({ account }: Cells) {
  return accountDigits(account) !== undefined || isShortened(account)
}

const MOST_OF_A_REASON = 1_000

function printable(text: string) {
  const shown = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, ' ')
  return Array.from(shown.normalize('NFC')).slice(0, MOST_OF_A_REASON).join('').trim()
}

/** `95900`, `95.900`, `95,900.00`, `Rp95.900,-`. A rupiah has no parts. */
function amountIn(text: string) {
  const plain = text.replace(/^(IDR|Rp\.?)\s*/i, '').replaceAll(/\s/g, '')
  const digits =
    /^(\d{1,3}(?:\.\d{3})+)(?:,(?:0{1,2}|-))?$/.exec(plain) ??
    /^(\d{1,3}(?:,\d{3})+)(?:\.0{1,2})?$/.exec(plain) ??
    /^(\d+)(?:[.,](?:0{1,2}|-))?$/.exec(plain)
  const amount = Number(digits?.[1]?.replaceAll(/[.,]/g, ''))
  return digits && Number.isSafeInteger(amount) ? amount : undefined
}

function unfinished({ status, reference }: Cells) {
  if (status !== '') return `the status "${status}" is neither paid nor failed`
  return reference === '' ? 'it has neither status nor reference' : 'it has no status'
}

/**
 * Of a settlement with two lines neither is the bank's whole answer: the transfer may have failed
 * and been sent again. One reference on every paid line of a batch is one debit for the batch; on
 * some of the lines it is a mistake.
 */
function withoutRepeats(read: readonly ReadLine[]): Omit<Answer, 'passedOver'> {
  const lines: AnswerLine[] = []
  const refused: RefusedLine[] = []
  const wellFormed = read.filter((one): one is AnswerLine => !('id' in one))
  const settlements = Map.groupBy(read, idOf)
  const batches = Map.groupBy(wellFormed.filter(isPaid), ({ batch }) => batch)
  for (const one of read) {
    if ('id' in one) {
      refused.push(one)
      continue
    }
    const { line, settlement_id: id } = one
    const sameId = settlements.get(id) ?? []
    const ofBatch = batches.get(one.batch) ?? []
    const sameReference = ofBatch.filter(
      (other) => isPaid(one) && referenceOf(other) === referenceOf(one),
    )
    const isOneDebit = sameReference.length > 1 && sameReference.length === ofBatch.length
    const reason =
      sameId.length > 1
        ? `its settlement is on the lines ${linesOf(sameId)}`
        : sameReference.length > 1 && !isOneDebit
          ? `its reference is on the lines ${linesOf(sameReference)}, and not on all of the batch`
          : undefined
    if (reason !== undefined) refused.push({ line, id, reason })
    else lines.push(isOneDebit ? { ...one, is_one_debit: true } : one)
  }
  return { lines, refused }
}

function idOf(read: ReadLine) {
  return 'id' in read ? read.id : read.settlement_id
}

function isPaid({ outcome, bank_reference: reference }: AnswerLine) {
  return outcome === 'paid' && reference !== undefined
}

function referenceOf({ bank_reference: reference = '', value_date: date }: AnswerLine) {
  return `${reference.replaceAll(/\s/g, '').toUpperCase()}#${date ?? ''}`
}

function linesOf(lines: readonly ReadLine[]) {
  return lines.map(({ line }) => line).join(', ')
}

function outcomes(outcome: AnswerLine['outcome'], words: string) {
  return Object.fromEntries(words.split(' ').map((word) => [word, outcome]))
}
