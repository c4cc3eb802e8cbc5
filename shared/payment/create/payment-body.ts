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

/** An optional field; null counts as absent (design section 5). */
const maybe = <const Schema extends v.GenericSchema>(schema: Schema) => v.nullish(schema, () => undefined)

/** PHP writes an empty array for an object without members. */
export const asObject = (value: unknown): unknown => (Array.isArray(value) && value.length === 0 ? {} : value)

const CustomerBodySchema = v.object({ name: maybe(text), email: maybe(text), phone: maybe(text) })

/** Types only. Unknown fields and the meaning of values are checked elsewhere. */
export const PaymentBodySchema = v.object({
  method: maybe(text),
  channel_code: maybe(text),
  amount: maybe(integer),
  currency: maybe(text),
  external_reference: maybe(text),
  // valibot takes arrays and lossless numbers for objects.
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

/** Strict decoding (spec 4.1, rule 1): the unknown fields of the body and of its customer. */
export const unknownFields = (body: Readonly<Record<string, unknown>>): readonly string[] => [
  ...keysBeside(body, PaymentBodySchema.entries),
  ...keysBeside(body['customer'], CustomerBodySchema.entries).map((key) => `customer.${key}`),
]
