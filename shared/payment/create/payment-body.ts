import * as v from 'valibot'
import { isJsonObject, isLosslessNumber, type LosslessNumber, toInteger } from '../../json.ts'

const integer = v.pipe(
  v.custom<LosslessNumber>(isLosslessNumber, 'must be a number'),
  v.transform(toInteger),
  v.check((value) => Number.isInteger(value), 'must be an integer'),
)

const text = v.pipe(
  v.string(),
  v.check((value) => value.isWellFormed(), 'must be well-formed Unicode'),
)

/** A field that may be left out, which null says as well (design section 5). */
const maybe = <const Schema extends v.GenericSchema>(schema: Schema) => v.nullish(schema, () => undefined)

/** PHP writes an empty array for an object without members. */
export const asObject = (value: unknown): unknown => (Array.isArray(value) && value.length === 0 ? {} : value)

const CustomerBodySchema = v.object({ name: maybe(text), email: maybe(text), phone: maybe(text) })

/** Types only: unknown fields are looked for beside it, and what is missing or meant is checked by the rules. */
export const PaymentBodySchema = v.object({
  method: maybe(text),
  channel_code: maybe(text),
  amount: maybe(integer),
  currency: maybe(text),
  external_reference: maybe(text),
  // To valibot an array and a lossless number are objects too.
  customer: maybe(
    v.pipe(v.unknown(), v.transform(asObject), v.custom(isJsonObject, 'must be an object'), CustomerBodySchema),
  ),
  description: maybe(text),
  metadata: maybe(v.unknown()),
  expires_in_seconds: maybe(integer),
})
export type PaymentBody = v.InferOutput<typeof PaymentBodySchema>

const keysBeside = (value: unknown, known: object): readonly string[] =>
  isJsonObject(value) ? Object.keys(value).filter((key) => !Object.hasOwn(known, key)) : []

/** Decoding is strict (spec 4.1, rule 1): every field that nobody asked for, in the body and in its customer. */
export const unknownFields = (body: Readonly<Record<string, unknown>>): readonly string[] => [
  ...keysBeside(body, PaymentBodySchema.entries),
  ...keysBeside(body['customer'], CustomerBodySchema.entries).map((key) => `customer.${key}`),
]
