import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { deflateText, inflateText } from '../../shared/table/deflated-text.ts'
import { DEFLATED_WORDS, WRITTEN_WITH } from '../../shared/table/deflated-words.ts'
import { itHoldsFor } from './it-holds-for.ts'

itHoldsFor(fc.string({ unit: 'grapheme', maxLength: 200 }))(
  'a deflated text inflates to the same text',
  (text) => {
    expect(inflateText(deflateText(text))).toBe(text)
  },
)

itHoldsFor(fc.oneof(fc.uint8Array(), fc.anything()))(
  'anything else is undefined or a text, and never an error',
  (stored) => {
    expect(['string', 'undefined']).toContain(typeof inflateText(stored))
  },
)

it('a shortened, a far too long text and an unknown dictionary cannot be read', () => {
  const stored = deflateText('{"event":"payment.succeeded","event_id":"1"}')
  const longest = ' '.repeat(2 * 1024 * 1024)

  expect(inflateText(stored.slice(0, -1))).toBeUndefined()
  expect(inflateText(Uint8Array.from([250, ...stored.slice(1)]))).toBeUndefined()
  expect(inflateText(Uint8Array.from([]))).toBeUndefined()
  expect(inflateText(deflateText(longest))).toHaveLength(longest.length)
  expect(inflateText(deflateText(`${longest} `))).toBeUndefined()
})

it('a published dictionary never changes, because stored texts need it', () => {
  const digests = DEFLATED_WORDS.map((words) =>
    createHash('sha256').update(words.join('')).digest('hex').slice(0, 16),
  )

  expect(digests).toStrictEqual(['73047e6b96c784e4'])
  expect(deflateText('')[0]).toBe(WRITTEN_WITH)
  // Raise it only in the release after the one that adds the dictionary.
  expect(WRITTEN_WITH).toBe(0)
})
