import * as v from 'valibot'
import type { ActionRequest } from '../action-request.ts'
import { mapInChunks } from '../chunks.ts'
import { invalid } from '../errors.ts'
import { parseInput } from '../field-errors.ts'
import { SettlementIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { BookDaySchema } from '../journal/day-totals.ts'
import { findBatch } from '../settlement/batch/batch-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { findAnySettlement } from '../settlement/settlement-store.ts'
import { BANK_REFERENCE, hiddenCharactersIn, textField } from '../text-field.ts'
import { refusalOf, SIDE_BY_SIDE } from './judge-payouts.ts'
import { markSettlementFailed } from './mark-settlement-failed.ts'
import { alertGrowthAgain, isPaidBy, markSettlementPaid } from './mark-settlement-paid.ts'
import { noteUseOfFile } from './note-use-of-file.ts'

const NUMBER = v.pipe(v.number(), v.safeInteger())

/** Without these fields no answer can name the line. */
export const NAMED_LINE = { line: NUMBER, settlement_id: v.string() }

const AnswerLineSchema = v.strictObject({
  ...NAMED_LINE,
  amount_minor: NUMBER,
  bank_account_no: v.pipe(v.string(), v.maxLength(100)),
  outcome: v.picklist(['paid', 'failed']),
  bank_reference: v.optional(BANK_REFERENCE),
  value_date: v.optional(BookDaySchema),
  /** The bank made one debit for the whole batch, and names it on every line. */
  is_one_debit: v.optional(v.boolean()),
  /** In the bank's words. */
  reason: v.optional(textField(1_000)),
  batch: v.optional(NUMBER),
})
/** A line of the bank's answer, as the command read it from a file. */
export type AnswerLine = v.InferInput<typeof AnswerLineSchema>

type AnswerDeps = Parameters<typeof markSettlementPaid>[0]

/**
 * Writes down what the bank answered, line by line (design section 15): paid, failed with the
 * bank's words, or refused and why. A line that is refused or fails stops no other line. The same
 * file again changes nothing: a settlement that is paid with this reference counts as done.
 */
export async function answerPayouts(
  deps: AnswerDeps,
  { operator, lines }: ActionRequest<{ operator: string; lines: readonly NamedLine[] }>,
) {
  const results = await mapInChunks(lines, SIDE_BY_SIDE, async (line) => {
    const shown = { line: line.line, settlement_id: line.settlement_id }
    try {
      return { ...shown, result: await writeDown(deps, parseLine(line), operator) }
    } catch (error) {
      // A text that is no settlement's id stays out of the log.
      const settlementId = ifValid(SettlementIdSchema, line.settlement_id)
      const { message, details } = refusalOf(deps, settlementId, error)
      const hint = details.actionHint === undefined ? '' : ` ${details.actionHint}`
      return { ...shown, result: 'refused' as const, reason: `${message}.${hint}` }
    }
  })
  const countOf = (wanted: string) => results.filter(({ result }) => result === wanted).length
  return {
    done: countOf('done'),
    failed: countOf('failed'),
    refused: countOf('refused'),
    lines: results,
  }
}

type NamedLine = Pick<AnswerLine, keyof typeof NAMED_LINE>

function parseLine(line: NamedLine) {
  const [hidden] = hiddenCharactersIn(line)
  if (hidden) throw invalid(`${hidden.field}: ${hidden.message}`)
  return parseInput(AnswerLineSchema, line)
}

/** A line that is refused proves too that the bank has the file, if it is of this settlement. */
async function writeDown(deps: AnswerDeps, line: AnswerLine, operator: string) {
  const settlement = await findAnySettlement(deps, line.settlement_id)
  const { outcome, batch: number = settlement.batch } = line
  if (number !== undefined && isOf(settlement, line))
    await noteUseOfFile(deps, settlement, { number, operator, outcome })
  assertSame(settlement, line)
  try {
    return await close(deps, settlement, line, operator)
  } catch (error) {
    const { status } = await findAnySettlement(deps, line.settlement_id)
    if (status === settlement.status) throw error
    // Another operator has closed the settlement since it was read.
    return writeDown(deps, line, operator)
  }
}

async function close(deps: AnswerDeps, settlement: Settlement, line: AnswerLine, operator: string) {
  const { settlementId, status } = settlement
  if (line.outcome === 'failed') {
    if (status === 'failed') return 'failed'
    const notes = line.reason ?? 'the bank refused it'
    await markSettlementFailed(deps, { settlementId, operator, notes })
    return 'failed'
  }
  const bankReference = await referenceOf(deps, settlement, line)
  const { value_date: valueDate } = line
  if (status === 'manual_paid') {
    // Its line may have come alone at first.
    const isDone = [bankReference, line.bank_reference].some((reference = '') =>
      isPaidBy(settlement, { bankReference: reference, valueDate }),
    )
    if (!isDone)
      throw invalid(`it is marked paid already, with the reference ${settlement.bankReference}`)
    await alertGrowthAgain(deps, settlement)
    return 'done'
  }
  await markSettlementPaid(deps, { settlementId, operator, bankReference, valueDate })
  return 'done'
}

/**
 * A line with another amount and another account names the settlement by mistake, unless it names
 * the batch too.
 */
function isOf({ netMinor, bank }: Settlement, line: AnswerLine) {
  return (
    line.batch !== undefined ||
    line.amount_minor === netMinor ||
    line.bank_account_no === bank?.bankAccountNo
  )
}

/** A line whose amount, account or batch was edited pays nothing. */
function assertSame({ netMinor, bank, batch }: Settlement, line: AnswerLine) {
  if (line.amount_minor !== netMinor)
    throw invalid(`the amount is ${line.amount_minor}, and ${netMinor} in the settlement`)
  const account = bank?.bankAccountNo ?? 'none'
  if (line.bank_account_no !== account)
    throw invalid(`the account is ${line.bank_account_no}, and ${account} in the settlement`)
  if (![undefined, batch].includes(line.batch))
    throw invalid(`it is in batch ${batch ?? 'none'}, and the file is of batch ${line.batch}`)
}

/** Of one debit for a batch the reference and the line. */
async function referenceOf(
  deps: AnswerDeps,
  { settlementId, batch: number }: Settlement,
  { bank_reference: reference, is_one_debit: isOneDebit }: AnswerLine,
) {
  if (reference === undefined) throw invalid('the line has no bank reference')
  if (!isOneDebit) return reference
  const batch = number === undefined ? undefined : await findBatch(deps, number)
  const at = batch?.settlementIds?.indexOf(settlementId) ?? -1
  if (at < 0) throw invalid('other lines have the same reference, and it is in no batch')
  return `${reference}#${at + 1}`
}
