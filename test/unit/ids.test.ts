import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { derivedUuid, paymentIdForKey, slotOf } from '../../shared/ids.ts'
import { aClientId } from '../support/payment-builders.ts'
import { itHoldsFor } from './it-holds-for.ts'

describe('derivedUuid', () => {
  const parts = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 })
  itHoldsFor(parts)('is a version 8 UUID of RFC 9562 in lower case, whatever the parts', (texts) => {
    expect(derivedUuid(...texts)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  const aText = fc.string({ unit: 'grapheme', minLength: 1 })

  // It hashes the length of each part with it.
  itHoldsFor(aText, fc.nat())('lets no text move from one part to the next', (text, cut) => {
    const at = cut % text.length
    const pieces = [text.slice(0, at), text.slice(at)]

    expect(derivedUuid(...pieces)).not.toBe(derivedUuid(text))
    expect(derivedUuid(...pieces)).not.toBe(derivedUuid(...pieces.toReversed(), ''))
  })

  it('never changes, so that keys of old payments still find them', () => {
    // The first 16 bytes of `printf '7:payment5:a-key5:é☕' | sha256sum`, with version and variant set.
    expect(derivedUuid('payment', 'a-key', 'é☕')).toBe('b6d772e9-82df-8701-adb0-4610e91d9e2f')
    const clientId = aClientId()
    expect(paymentIdForKey(clientId, 'a-key')).toBe(derivedUuid('payment', clientId, 'a-key'))
  })
})

it('slotOf is stable, in range, and spreads ids evenly', () => {
  const counts = Array.from({ length: 16 }, () => 0)
  for (let at = 0; at < 16_000; at++) {
    const slot = slotOf(derivedUuid(String(at)), 16)
    counts[slot] = (counts[slot] ?? 0) + 1
  }

  expect(counts).toHaveLength(16)
  expect(Math.min(...counts)).toBeGreaterThan(850)
  expect(Math.max(...counts)).toBeLessThan(1_150)
  expect(slotOf('a', 16)).toBe(slotOf('a', 16))
})
