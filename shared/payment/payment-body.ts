import * as v from 'valibot'
import { isJsonObject, isLosslessNumber, type LosslessNumber, toInteger } from '../json.ts'

const integer = v.pipe(
  v.custom<LosslessNumber>(isLosslessNumber, 'must be a number'),
  v.transform(toInteger),
  v.check((value) => Number.isInteger(value), 'must be an integer'),
)

const text = v.pipe(
  v.string(),
  v.check((value) => value.isWellFormed(), 'must be well-formed Unicode'),
)

const CustomerBodySchema = v.object({ name: v.optional(text), email: v.optional(text), phone: v.optional(text) })

/** Types only: unknown fields are looked for beside it, and what the values mean is checked by the rules. */
export const PaymentBodySchema = v.object({
  method: v.optional(text),
  channel_code: v.optional(text),
  amount: v.optional(integer),
  currency: v.optional(text),
  external_reference: v.optional(text),
  // To valibot an array and a lossless number are objects too.
  customer: v.optional(v.pipe(v.custom(isJsonObject, 'must be an object'), CustomerBodySchema)),
  description: v.optional(text),
  metadata: v.optional(v.unknown()),
  expires_in_seconds: v.optional(integer),
})
export type PaymentBody = v.InferOutput<typeof PaymentBodySchema>

const keysBeside = (value: unknown, known: object): readonly string[] =>
  isJsonObject(value) ? Object.keys(value).filter((key) => !Object.hasOwn(known, key)) : []

/** Decoding is strict (spec 4.1, rule 1): every field that nobody asked for, in the body and in its customer. */
export const unknownFields = (body: Readonly<Record<string, unknown>>): readonly string[] => [
  ...keysBeside(body, PaymentBodySchema.entries),
  ...keysBeside(body['customer'], CustomerBodySchema.entries).map((key) => `customer.${key}`),
]
