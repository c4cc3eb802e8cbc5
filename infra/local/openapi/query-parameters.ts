import * as v from 'valibot'
import { isJson, type Json, jsonSchemaOf } from './json-schema-of.ts'

/** What a parameter is for; `schema` where the one that parses has no word for what it checks. */
export type Parameters = Readonly<Record<string, { readonly description: string; readonly schema?: Json }>>

const PARAMETERS: Parameters = {
  page: {
    description: 'From 1 on; what is lower counts as 1.',
    schema: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER, default: 1 },
  },
  per_page: {
    description: 'From 1 to 100; what is outside counts as the nearest of the two.',
    schema: { type: 'integer', default: 25 },
  },
  limit: {
    description: 'From 1 to 1,000; what is outside counts as the nearest of the two.',
    schema: { type: 'integer', default: 100 },
  },
  after: { description: 'The `next` of the page before.' },
  status: { description: 'Only those of this status.' },
  idempotency_key: {
    description:
      'The one payment that this key made, or an empty list, which means "not yet": create it with the same key, never ' +
      'with a new one. Not together with another filter.',
  },
  external_reference: {
    description:
      'Only those that were created with exactly this reference, together with `status` if you like. A payment is found as ' +
      'soon as its create is answered. A reference of more than 1,000 payments is refused with 422.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  endpoint_id: { description: 'Only those to this endpoint, a deleted one perhaps.' },
  event_id: { description: 'Only those of this event.' },
  currency: { description: 'There is only IDR.', schema: { type: 'string', const: 'IDR', default: 'IDR' } },
  since: {
    description: 'Events that fired at or after this time; without it, those of 90 days.',
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
 * The parameters of a query by the schema that parses it; `own`: those that are otherwise in this operation. Throws for
 * one that nobody has described.
 */
export const queryParameters = (query: unknown, own: Parameters = {}): readonly Json[] => {
  const { entries } = v.parse(Query, query)
  const { properties, required } = jsonSchemaOf(v.object(entries), 'input')
  return Object.entries(isJson(properties) ? properties : {}).map(([name, parsed]) => {
    const said = own[name] ?? PARAMETERS[name]
    if (said === undefined) throw new Error(`nobody has described the parameter ${name}`)
    return {
      name,
      in: 'query',
      description: said.description,
      required: Array.isArray(required) && required.includes(name),
      schema: said.schema ?? parsed,
    }
  })
}
