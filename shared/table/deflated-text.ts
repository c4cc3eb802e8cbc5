import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { DEFLATED_WORDS, WRITTEN_WITH } from './deflated-words.ts'

/**
 * A text as the table stores it: the number of its dictionary in one byte, then raw deflate. The
 * same text may deflate to other bytes on another version of Node. Its inflated bytes are always
 * the same.
 */
export type DeflatedText = Uint8Array

const DICTIONARIES = DEFLATED_WORDS.map((words) => Buffer.from(words.join('')))

export function deflateText(text: string): DeflatedText {
  const dictionary = DICTIONARIES[WRITTEN_WITH]
  return Uint8Array.from([WRITTEN_WITH, ...deflateRawSync(text, { level: 9, dictionary })])
}

/** Undefined for anything that is not a deflated text, or whose bytes are damaged. */
export function inflateText(stored: unknown): string | undefined {
  if (!(stored instanceof Uint8Array)) return undefined
  const dictionary = DICTIONARIES[stored[0] ?? -1]
  if (dictionary === undefined) return undefined
  try {
    return inflateRawSync(stored.subarray(1), { dictionary }).toString('utf8')
  } catch {
    return undefined
  }
}
