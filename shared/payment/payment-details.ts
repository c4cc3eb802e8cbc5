import * as v from 'valibot'
import { ifValid } from '../if-valid.ts'
import { type DeflatedText, deflateText, inflateText } from '../table/deflated-text.ts'
import type { Payment } from './payment.ts'

/**
 * The fields of a visible payment that only an erasure changes, and that no condition and no index
 * needs.
 */
const DETAILS = [
  'provider',
  'attempt',
  'providerAttempts',
  'expiresAt',
  'paymentRequestId',
  'paymentDestination',
  'customer',
  'description',
  'metadata',
] as const

/** Deflated, because a row just over 1 KB costs more at each write. */
export function storedDetails(payment: Payment): DeflatedText {
  const providerAttempts = payment.providerAttempts.map((attempt) =>
    attempt.outcome === 'created' ? { ...attempt, outcome: undefined } : attempt,
  )
  const fields = { ...payment, providerAttempts }
  return deflateText(
    JSON.stringify(Object.fromEntries(DETAILS.map((name) => [name, fields[name]]))),
  )
}

export const NO_DETAILS = Object.fromEntries(DETAILS.map((name) => [name, undefined]))

const Details = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()))

/** Without readable details the payment lacks its required fields. */
export function readDetails(stored: unknown): Readonly<Record<string, unknown>> {
  return ifValid(Details, inflateText(stored)) ?? {}
}
