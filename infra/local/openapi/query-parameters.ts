import * as v from 'valibot'
import { isJson, type Json, jsonSchemaOf } from './json-schema-of.ts'

/** The purpose of a parameter; `schema` if the parsing schema cannot express its check. */
export type Parameters = Readonly<Record<string, { readonly description: string; readonly schema?: Json }>>

const PARAMETERS: Parameters = {
  page: {
    description: 'From 1; a lower value counts as 1.',
    schema: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER, default: 1 },
  },
  per_page: {
    description: 'From 1 to 100; a value outside counts as the nearest bound.',
    schema: { type: 'integer', default: 25 },
  },
  limit: {
    description: 'From 1 to 1,000; a value outside counts as the nearest bound.',
    schema: { type: 'integer', default: 100 },
  },
  after: { description: 'The `next` of the previous page.' },
  status: { description: 'Only items of this status.' },
  idempotency_key: {
    description:
      'Only the payment of this key. An empty list means "not yet": then create it with the same key, never with a new ' +
      'one. This filter allows no other filter.',
  },
  external_reference: {
    description:
      'Only payments with exactly this reference. `status` can be added. A payment can be found as soon as its create is ' +
      'answered. A reference of more than 1,000 payments gets 422.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  endpoint_id: { description: 'Only deliveries to this endpoint, which may be deleted.' },
  event_id: { description: 'Only deliveries of this event.' },
  currency: { description: 'Only IDR is supported.', schema: { type: 'string', const: 'IDR', default: 'IDR' } },
  since: {
    description: 'Only events that fired at or after this time. Without it: the last 90 days.',
    schema: { type: 'string', format: 'date-time' },
  },
  include: { description: '`settlements` adds `in_settlement_minor` and `paid_out_minor`.' },
}

const Query = v.looseObject({
  entries: v.record(
    v.string(),
    v.custom<v.GenericSchema>((value) => typeof value === 'object'),
  ),
})

/**
 * The parameters of a query, from the schema that parses it. `own`: parameters that differ in this operation. Throws
 * for a parameter without description.
 */
export const queryParameters = (query: unknown, own: Parameters = {}): readonly Json[] => {
  const { entries } = v.parse(Query, query)
  const { properties, required } = jsonSchemaOf(v.object(entries), 'input')
  return Object.entries(isJson(properties) ? properties : {}).map(([name, parsed]) => {
    const said = own[name] ?? PARAMETERS[name]
    if (said === undefined) throw new Error(`the parameter ${name} has no description`)
    return {
      name,
      in: 'query',
      description: said.description,
      required: Array.isArray(required) && required.includes(name),
      schema: said.schema ?? parsed,
    }
  })
}
