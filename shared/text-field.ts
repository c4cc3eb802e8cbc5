import * as v from 'valibot'

const atMost = (characters: number) =>
  v.maxLength<string, number, string>(characters, `at most ${characters} characters`)

/** What an operator writes: trimmed, and something. */
export const textField = (characters: number) =>
  v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'), atMost(characters))

/** Control characters, line breaks, and what changes the direction of the text that follows it. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

const REFUSED = ['must not contain control characters or line breaks']

/** The texts in an input of bounded depth that hold control characters or line breaks, by their paths. */
export const hiddenCharactersIn = (value: unknown, path = 'body'): Readonly<Record<string, readonly string[]>> => {
  if (typeof value === 'string') return HIDDEN.test(value) ? { [path]: REFUSED } : {}
  if (typeof value !== 'object' || value === null) return {}
  const fields = Object.entries(value)
  const found = fields.map(([name, one]) => hiddenCharactersIn(one, path === 'body' ? name : `${path}.${name}`))
  return Object.assign({}, ...found)
}

/** A URL as long as browsers and servers take it; what it may lead to is another question. */
export const URL_LENGTH = atMost(2_048)
