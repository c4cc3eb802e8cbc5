import * as v from 'valibot'
import { unicodePattern } from '../text-field.ts'
import { BANKS, type BankFacts } from './banks.ts'

/** The bank that people mean: `bca`, `Bank Central Asia` and `BANK BCA (014)` are BCA. */
export function findBank(name: string): BankFacts | undefined {
  const words = wordsOf(name)
  return BANKS.find((bank) => [bank.code, ...bank.names].some((known) => fits(words, bank, known)))
}

/** A number in the name must be the bank's own. */
function fits(words: readonly string[], { number }: BankFacts, known: string) {
  const text = words.filter((word) => word !== number).join(' ')
  return text === wordsOf(known).join(' ')
}

const IGNORED: ReadonlySet<string> = new Set(['BANK', 'PT', 'TBK', 'PERSERO'])

function wordsOf(name: string) {
  const words = name.toUpperCase().split(unicodePattern(name, /[^A-Z\d]+/, '[^\\p{L}\\p{N}]+'))
  return words.filter((word) => word !== '' && !IGNORED.has(word))
}

/** Banks without a known length have accounts of 6 to 20 digits. */
const LENGTHS = { least: 6, most: 20 }

/**
 * The digits of an account number, without the blanks, dashes and dots between them. Undefined for
 * anything else: a number that a spreadsheet has shortened, a letter, a decimal number, only zeros.
 */
export function accountDigits(text: string): string | undefined {
  // `12345678.0` is a number of a spreadsheet, which has lost its leading zeros.
  if (/^\d+[.,]0+$/.test(text)) return undefined
  const between = unicodePattern(text, /(?<=\d)[ .-]+(?=\d)/g, '(?<=\\d)[\\s.\\p{Pd}]+(?=\\d)')
  const digits = text.replaceAll(between, '')
  const isPossible = digits.length >= LENGTHS.least && digits.length <= LENGTHS.most
  return isPossible && /^\d+$/.test(digits) && /[1-9]/.test(digits) ? digits : undefined
}

const KNOWN = BANKS.map(({ code }) => code).join(', ')

/** Reads a bank's name as its code. Refuses an unknown bank with the list. */
export const BankName = v.pipe(
  v.string(),
  v.trim(),
  v.check((name) => findBank(name) !== undefined, `must be a bank of this list: ${KNOWN}`),
  v.transform((name) => findBank(name)?.code ?? name),
)

/** Reads an account number as its digits. */
export const AccountNumber = v.pipe(
  v.string(),
  v.trim(),
  v.check(
    (text) => accountDigits(text) !== undefined,
    `must be ${LENGTHS.least} to ${LENGTHS.most} digits; blanks, dashes and dots may be between them`,
  ),
  v.transform((text) => accountDigits(text) ?? text),
)

/** Undefined: the bank may have such an account. */
export function whyNoAccount({
  bank_name: code,
  bank_account_no: accountNo,
}: {
  readonly bank_name: string
  readonly bank_account_no: string
}): string | undefined {
  const digits = findBank(code)?.digits
  return digits === undefined || digits.includes(accountNo.length)
    ? undefined
    : `must have ${digits.join(' or ')} digits at ${code}, and has ${accountNo.length}`
}
