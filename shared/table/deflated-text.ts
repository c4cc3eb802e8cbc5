import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { DEFLATED_WORDS, WRITTEN_WITH } from './deflated-words.ts'

/**
 * The number of the text's dictionary in one byte, then raw deflate. The same text may deflate to
 * other bytes on another version of Node, which inflate to the same.
 */
export type DeflatedText = Uint8Array

const DICTIONARIES = DEFLATED_WORDS.map((words) => Buffer.from(words.join('')))

export function deflateText(text: string): DeflatedText {
  const dictionary = DICTIONARIES[WRITTEN_WITH]
  return Uint8Array.from([WRITTEN_WITH, ...deflateRawSync(text, { level: 9, dictionary })])
}

/** Undefined for anything that is not a deflated text, is too long, or has damaged bytes. */
export function inflateText(stored: unknown) {
  if (!(stored instanceof Uint8Array)) return undefined
  const dictionary = DICTIONARIES[stored[0] ?? -1]
  if (dictionary === undefined) return undefined
  try {
    // Room for a create's body (64 KB), a provider's answer (1 MB) and little more: a forged row
    // inflates to a thousand times its bytes.
    const options = { dictionary, maxOutputLength: 2 * 1024 * 1024 }
    return inflateRawSync(stored.subarray(1), options).toString('utf8')
  } catch {
    return undefined
  }
}
