import * as v from 'valibot'
import { BookDaySchema } from '../journal/day-totals.ts'
import { pageFields } from '../page.ts'
import { PAYMENT_METHODS, PAYMENT_STATUSES } from '../payment-status.ts'
import { SEARCHED } from './search-payments.ts'

const filled = v.optional(v.pipe(v.string(), v.minLength(1, 'must not be empty')))
const WITH_AMOUNT = ['day', 'status', 'method', 'cursor'] as const
/** The payment search of operators: by one criterion at a time (design section 11). */
export const paymentSearch = v.pipe(
  v.strictObject({
    client_id: v.optional(v.string()),
    external_reference: v.optional(v.string()),
    payment_destination: filled,
    provider_payment_id: filled,
    payment_request_id: filled,
    amount_minor: v.optional(v.pipe(v.number(), v.safeInteger())),
    day: v.optional(BookDaySchema),
    status: v.optional(v.picklist(PAYMENT_STATUSES)),
    method: v.optional(v.picklist(PAYMENT_METHODS)),
    cursor: v.optional(v.string()),
    ...pageFields,
  }),
  v.check(
    (asked) => [...SEARCHED, 'amount_minor' as const].filter((name) => asked[name] !== undefined).length === 1,
    `give one of ${SEARCHED.join(', ')}, amount_minor`,
  ),
  v.check(
    ({ client_id, external_reference }) => external_reference === undefined || client_id !== undefined,
    'external_reference needs client_id: each merchant has its own',
  ),
  v.check(
    ({ amount_minor, client_id, day }) => amount_minor === undefined || (client_id !== undefined && day !== undefined),
    'amount_minor needs client_id and day, the day the payment was made in Jakarta',
  ),
  v.check(
    (asked) => asked.amount_minor !== undefined || WITH_AMOUNT.every((name) => asked[name] === undefined),
    `${WITH_AMOUNT.join(', ')} go with amount_minor`,
  ),
)
