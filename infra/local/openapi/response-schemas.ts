import * as v from 'valibot'
import { StatementDtoSchema } from '../../../shared/books/statement-dto-schema.ts'
import {
  DISPUTED_EVENT_TYPE,
  HELD_EVENT_TYPE,
  REVERSED_EVENT_TYPE,
  SETTLEMENT_EVENT_TYPES,
  STATUS_EVENT_TYPES,
} from '../../../shared/event/event.ts'
import { BalanceDtoSchema } from '../../../shared/ledger/balance-dto-schema.ts'
import {
  DisputedDataSchema,
  HeldDataSchema,
  PaymentDtoSchema,
  ReversedDataSchema,
  WebhookDataSchema,
} from '../../../shared/payment/payment-dto-schema.ts'
import {
  SettlementDataSchema,
  SettlementDtoSchema,
} from '../../../shared/settlement/settlement-dto-schema.ts'
import { EntryDtoSchema } from '../../../shared/settlement/statement/entry-dto-schema.ts'
import {
  OwnDeliveryDtoSchema,
  RedeliveredDtoSchema,
} from '../../../shared/webhook/delivery/own-delivery-dto-schema.ts'
import { OwnEndpointDtoSchema } from '../../../shared/webhook/endpoint/own-endpoint-dto-schema.ts'
import { type Json, jsonSchemaOf } from './json-schema-of.ts'

const DTOS = {
  Payment: PaymentDtoSchema,
  WebhookData: WebhookDataSchema,
  ReversedData: ReversedDataSchema,
  DisputedData: DisputedDataSchema,
  HeldData: HeldDataSchema,
  Balance: BalanceDtoSchema,
  Settlement: SettlementDtoSchema,
  SettlementData: SettlementDataSchema,
  Entry: EntryDtoSchema,
  Statement: StatementDtoSchema,
  WebhookEndpoint: OwnEndpointDtoSchema,
  WebhookDelivery: OwnDeliveryDtoSchema,
  Redelivered: RedeliveredDtoSchema,
} as const satisfies Readonly<Record<string, v.GenericSchema>>

const whole = v.pipe(v.number(), v.integer(), v.minValue(0))

const Pagination = v.object({ page: whole, per_page: whole })
const PaginationWithTotal = v.object({ ...Pagination.entries, total: whole, total_pages: whole })

export function responseSchemas(): Readonly<Record<string, Json>> {
  return {
    ...Object.fromEntries(
      Object.entries(DTOS).map(([name, schema]) => [name, jsonSchemaOf(schema, 'output')]),
    ),
    PaymentList: listOf('Payment', { pagination: PaginationWithTotal }),
    SettlementList: listOf('Settlement', { pagination: Pagination }),
    EntryList: listOf('Entry', { next: v.nullable(v.string()), has_more: v.boolean() }),
    WebhookEndpointList: listOf('WebhookEndpoint'),
    WebhookDeliveryList: listOf('WebhookDelivery', { pagination: Pagination }),
    Event: {
      oneOf: [
        eventEnvelope({ type: 'string', enum: STATUS_EVENT_TYPES }, refTo('WebhookData')),
        eventEnvelope({ type: 'string', const: REVERSED_EVENT_TYPE }, refTo('ReversedData')),
        eventEnvelope({ type: 'string', const: DISPUTED_EVENT_TYPE }, refTo('DisputedData')),
        eventEnvelope({ type: 'string', const: HELD_EVENT_TYPE }, refTo('HeldData')),
        eventEnvelope({ type: 'string', enum: SETTLEMENT_EVENT_TYPES }, refTo('SettlementData')),
      ],
    },
    EventList: listOf('Event', {
      next: v.pipe(
        v.string(),
        v.description('Send it as `after`. It is always present. Do not interpret it.'),
      ),
      has_more: v.pipe(
        v.boolean(),
        v.description('Whether there are more events after `next` now.'),
      ),
    }),
  }
}

function listOf(schema: string, otherFields: Readonly<Record<string, v.GenericSchema>> = {}): Json {
  return {
    type: 'object',
    required: ['data', ...Object.keys(otherFields)],
    properties: {
      data: { type: 'array', items: refTo(schema) },
      ...Object.fromEntries(
        Object.entries(otherFields).map(([name, content]) => [
          name,
          jsonSchemaOf(content, 'output'),
        ]),
      ),
    },
  }
}

export function refTo(schema: string): Json {
  return { $ref: `#/components/schemas/${schema}` }
}

export function eventEnvelope(event: Json, data: Json): Json {
  return {
    description:
      'The body of a webhook. It may get new fields: ignore fields that you do not know.',
    type: 'object',
    required: ['event', 'event_id', 'timestamp', 'data'],
    properties: {
      event,
      event_id: {
        type: 'string',
        format: 'uuid',
        description: 'The same in every attempt and at every endpoint.',
      },
      timestamp: {
        type: 'string',
        format: 'date-time',
        description: 'The time of the event, not of the webhook.',
      },
      data,
    },
  }
}
