import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import { ApiKeySchema, toApiKeyDto } from '../../shared/client/api-key-store.ts'
import { ClientSchema } from '../../shared/client/client.ts'
import { toClientDto } from '../../shared/client/client-dto.ts'
import { EventSchema } from '../../shared/event/read-events.ts'
import { parseEntry } from '../../shared/journal/entry-store.ts'
import { HouseEntrySchema, HouseTotalSchema } from '../../shared/journal/house-store.ts'
import { ShardSchema } from '../../shared/ledger/shard-store.ts'
import { WindowSchema } from '../../shared/ledger/window-store.ts'
import {
  AuditHeadSchema,
  AuditRecordSchema,
  toAuditRecordDto,
} from '../../shared/operator/audit-record-store.ts'
import { CreatingPaymentSchema } from '../../shared/payment/payment.ts'
import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { PaymentSchema } from '../../shared/payment/payment-store.ts'
import { AdjustmentSchema } from '../../shared/posting/adjustment-store.ts'
import { SettlementSchema } from '../../shared/settlement/settlement.ts'
import { toSettlementDto } from '../../shared/settlement/settlement-dto.ts'
import { NotedSchema, SuspenseSchema, toSuspenseDto } from '../../shared/suspense/suspense.ts'
import { HeadSchema, SyncJobSchema } from '../../shared/sync/job-store.ts'
import type { Item } from '../../shared/table/attributes.ts'
import { VerdictSchema } from '../../shared/verdict/verdict-store.ts'
import { DeliveryAttemptSchema, DeliverySchema } from '../../shared/webhook/delivery/delivery.ts'
import { toDeliveryDto } from '../../shared/webhook/delivery/delivery-dto.ts'
import { EndpointSchema } from '../../shared/webhook/endpoint/endpoint.ts'
import { toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'

export type RawItem = Readonly<Record<string, AttributeValue>>

type Reader = (item: Item) => unknown

/** The kinds of items by their keys, and how this tree reads an item that is alone in the table. */
export const KINDS: readonly (readonly [key: RegExp, read?: Reader])[] = [
  [/^ADJUSTMENT#/, by(AdjustmentSchema)],
  [/^APIKEY#/, by(ApiKeySchema, toApiKeyDto)],
  [/^AUDIT#.* HEAD$/, by(AuditHeadSchema)],
  [/^AUDIT#/, by(AuditRecordSchema, toAuditRecordDto)],
  [/^CLIENT#/, by(ClientSchema, toClientDto)],
  [/^(DELIVERY|TEST)#.* ATTEMPT#/, by(DeliveryAttemptSchema)],
  [
    /^(DELIVERY|TEST)#/,
    by(DeliverySchema, (delivery) => toDeliveryDto({ delivery, attempts: [] })),
  ],
  [/^ENDPOINTS#.* ENDPOINT#/, by(EndpointSchema, toEndpointDto)],
  [/^EVENT#/, by(EventSchema)],
  [/^HOUSE#/, by(HouseTotalSchema)],
  [/^JOURNAL#house#/, by(HouseEntrySchema)],
  [/^JOURNAL#/, parseEntry],
  [/^LEDGER#.* SHARD#/, (item) => v.parse(ShardSchema, { ...item, number: 0 })],
  [/^LEDGER#.* WINDOW$/, by(WindowSchema)],
  [
    /^PAYMENT#/,
    (item) =>
      item['status'] === 'creating'
        ? v.parse(CreatingPaymentSchema, item)
        : toPaymentDto(v.parse(PaymentSchema, item)),
  ],
  [/^NOTED#/, by(NotedSchema)],
  [/^SETTLEMENT#/, by(SettlementSchema, toSettlementDto)],
  [/^SUSPENSE#/, by(SuspenseSchema, toSuspenseDto)],
  [/^SYNC#head SYNC$/, by(HeadSchema)],
  // A finished job has no due time: no worker claims it.
  [/^SYNC#/, (item) => (item['dueAt'] === undefined ? 'done' : v.parse(SyncJobSchema, item))],
  [/^VERDICT#/, (item) => v.parse(VerdictSchema, item)],
  // Counters, which flows only add to; and pointers, of which flows read only the key.
  [/^(DESTINATION|PUSHES|QUOTA|RATE|REFERENCE)#|^ENDPOINTS#.* GONE#/],
]

/** Throws if the kind is not listed. */
export function kindOf({ pk, sk }: RawItem) {
  const key = `${pk?.S} ${sk?.S}`
  const kind = KINDS.find(([pattern]) => pattern.test(key))
  if (!kind) throw new Error(`test/releases/readers.ts has no reader for ${key}`)
  return kind
}

/** The parsed item, and the API's answer for a merchant or an operator if it has one. */
function by<Value>(
  schema: v.GenericSchema<unknown, Value>,
  show: (value: Value) => unknown = (value) => value,
): Reader {
  return (item) => show(v.parse(schema, item))
}
