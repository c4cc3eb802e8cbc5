import * as v from 'valibot'

const atMost = (characters: number) =>
  v.maxLength<string, number, string>(characters, `at most ${characters} characters`)

/** What an operator writes: trimmed, and something. */
export const textField = (characters: number) =>
  v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'), atMost(characters))

/** A URL as long as browsers and servers take it; what it may lead to is another question. */
export const URL_LENGTH = atMost(2_048)
