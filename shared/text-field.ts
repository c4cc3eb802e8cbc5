import * as v from 'valibot'

/**
 * The table may store half of a surrogate pair as another character, which breaks the digest of an
 * audit record.
 */
const isWellFormed = v.check<string, string>(
  (text) => text.isWellFormed(),
  'must be well-formed Unicode',
)

/** Trimmed, not empty, and in one form: the same text is the same characters. */
export function textField(characters: number) {
  return v.pipe(
    v.string(),
    v.trim(),
    v.normalize('NFC'),
    v.minLength(1, 'must not be empty'),
    maxCharacters(characters),
    isWellFormed,
  )
}

/** Counts code points, as for the fields of a create. */
export function maxCharacters(characters: number) {
  return v.check<string, string>(
    (text) => Array.from(text).length <= characters,
    `at most ${characters} characters`,
  )
}

/**
 * Control characters, line breaks, half surrogate pairs and invisible characters. Names that look
 * the same must be the same.
 */
const HIDDEN = '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]'

export function hasHiddenCharacter(text: string): boolean {
  return unicodePattern(text, /[^ -~]/, HIDDEN).test(text)
}

/** `ascii` for printable ASCII. As a literal, a class of Unicode loads its table at each start. */
export function unicodePattern(text: string, ascii: RegExp, unicode: string): RegExp {
  return /^[ -~]*$/.test(text) ? ascii : new RegExp(unicode, `${ascii.flags}u`)
}

const REFUSED = 'must not contain control characters, invisible characters or line breaks'

/** More than any input has. The stack would end at about 2,000 levels. */
const MOST_LEVELS = 8

/** Finds texts with control characters or line breaks, and values that are nested too deeply. */
export function hiddenCharactersIn(
  value: unknown,
  path: readonly string[] = [],
): Record<'field' | 'message', string>[] {
  const field = path.join('.')
  if (typeof value === 'string')
    return hasHiddenCharacter(value) ? [{ field, message: REFUSED }] : []
  if (typeof value !== 'object' || value === null) return []
  if (path.length > MOST_LEVELS) return [{ field, message: 'nested too deeply' }]
  return Object.entries(value).flatMap(([name, inner]) =>
    hiddenCharactersIn(inner, [...path, name]),
  )
}

/** The longest URL that browsers and servers accept, as it is written and as it is called. */
export const URL_LENGTH = v.check<string, string>(
  (text) => Math.max(text.length, URL.parse(text)?.href.length ?? 0) <= 2_048,
  'at most 2048 characters',
)

/**
 * The bank's own reference, in capitals without blanks, because a second use must be the same text.
 * A number that a spreadsheet has shortened is no reference any more.
 */
export const BANK_REFERENCE = v.pipe(
  v.string(),
  v.transform((text) => text.replaceAll(/\s/g, '').toUpperCase()),
  v.regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable ASCII characters'),
  v.check((text) => !isShortened(text), 'must not be a number that a spreadsheet has shortened'),
)

/** `2.02611E+15` has lost its last digits. Without sign and point it is a name, as `18E17`. */
export function isShortened(text: string): boolean {
  return /^[+-]?\d+([.,]\d+E[+-]?|E[+-])\d+$/i.test(text.trim())
}

/** A reference that makes an adjustment unique, or the id of a row of the provider. */
export const REFERENCE = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable ASCII characters without spaces'),
)

/** A word of a POSIX shell. Within single quotes only the single quote is special. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
