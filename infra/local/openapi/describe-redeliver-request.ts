import { RedeliverBodySchema } from '../../../shared/webhook/delivery/redeliver-dto.ts'
import { isJson, type Json, jsonSchemaOf } from './json-schema-of.ts'

const FIELDS: Readonly<Record<keyof typeof RedeliverBodySchema.entries, Json>> = {
  since: { format: 'date-time', description: 'Events that fired at or after this time.' },
  status: { description: 'Only deliveries of this status. Without it: everything that the endpoint missed.' },
  cursor: { description: 'The `next` of the last answer to the same request.' },
}

/** The body of POST /v1/webhook_endpoints/{id}/redeliver. */
export const describeRedeliverRequest = (): Readonly<Record<string, Json>> => {
  const schema = jsonSchemaOf(RedeliverBodySchema, 'input')
  const { properties } = schema
  if (!isJson(properties)) throw new Error('the body has no fields')
  const described = Object.entries(FIELDS).map(([name, more]) => [name, { ...Object(properties[name]), ...more }])
  return { RedeliverToEndpoint: { ...schema, properties: Object.fromEntries(described) } }
}
