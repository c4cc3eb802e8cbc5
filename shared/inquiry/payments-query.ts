import * as v from 'valibot'
import { pageParams } from '../page.ts'
import {
  KEY_CHARACTERS,
  KEY_CHARACTERS_MESSAGE,
  MAX_KEY_LENGTH,
  MAX_REFERENCE,
} from '../payment/create/parse-payment-request.ts'
import { PAYMENT_STATUSES } from '../payment-status.ts'

/** Without this, a caller without a value would get all payments. */
export const NEVER_EMPTY = ['idempotency_key', 'external_reference']

/** The query of the payment list (spec 4.2, design section 8). */
export const paymentsQuery = v.pipe(
  v.strictObject({
    ...pageParams,
    status: v.optional(
      v.picklist(PAYMENT_STATUSES, `status must be one of ${PAYMENT_STATUSES.join(', ')}`),
    ),
    idempotency_key: v.optional(
      v.pipe(
        requiredText('idempotency_key'),
        v.maxLength(MAX_KEY_LENGTH, lengthMessage('idempotency_key', MAX_KEY_LENGTH)),
        v.regex(KEY_CHARACTERS, `idempotency_key ${KEY_CHARACTERS_MESSAGE}`),
        // HTTP takes spaces at the ends of the header away.
        v.trim(),
        requiredText('idempotency_key'),
      ),
    ),
    external_reference: v.optional(
      v.pipe(
        requiredText('external_reference'),
        // Counts code points, as a create does.
        v.check(
          (text) => Array.from(text).length <= MAX_REFERENCE,
          lengthMessage('external_reference', MAX_REFERENCE),
        ),
      ),
    ),
  }),
  v.forward(
    v.check(
      ({ idempotency_key: key, external_reference: reference, status }) =>
        key === undefined || (reference === undefined && status === undefined),
      'idempotency_key cannot be combined with external_reference or status',
    ),
    ['idempotency_key'],
  ),
)

function requiredText(name: string) {
  return v.pipe(v.string(), v.minLength(1, `${name} must not be empty`))
}

function lengthMessage(name: string, most: number) {
  return `${name} must have at most ${most} characters`
}
