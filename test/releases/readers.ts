import * as v from 'valibot'
import { ApiKeySchema, toApiKeyDto } from '../../shared/client/api-key-store.ts'
import { ClientSchema } from '../../shared/client/client.ts'
import { toClientDto } from '../../shared/client/client-dto.ts'
import type { Deps } from '../../shared/deps.ts'
import { EventSchema } from '../../shared/event/read-events.ts'
import { parseEntry } from '../../shared/journal/entry-store.ts'
import { HouseEntrySchema, HouseTotalSchema } from '../../shared/journal/house-store.ts'
import { ShardSchema } from '../../shared/ledger/shard-store.ts'
import { WindowSchema } from '../../shared/ledger/window-store.ts'
import { AuditHeadSchema, AuditRecordSchema, toAuditRecordDto } from '../../shared/operator/audit-record-store.ts'
import { CreatingPaymentSchema } from '../../shared/payment/payment.ts'
import { toPaymentDto } from '../../shared/payment/payment-dto.ts'
import { PaymentSchema } from '../../shared/payment/payment-store.ts'
import { AdjustmentSchema } from '../../shared/posting/adjustment-store.ts'
import { SettlementSchema } from '../../shared/settlement/settlement.ts'
import { toSettlementDto } from '../../shared/settlement/settlement-dto.ts'
import { SuspenseSchema, toSuspenseDto } from '../../shared/suspense/suspense.ts'
import { HeadSchema, SyncJobSchema } from '../../shared/sync/job-store.ts'
import type { Item } from '../../shared/table/attributes.ts'
import { ClientVerdictSchema } from '../../shared/verdict/client-verdict-store.ts'
import { SettlementVerdictSchema } from '../../shared/verdict/settlement-verdict-store.ts'
import { DeliveryAttemptSchema, DeliverySchema } from '../../shared/webhook/delivery/delivery.ts'
import { toDeliveryDto } from '../../shared/webhook/delivery/delivery-dto.ts'
import { EndpointSchema } from '../../shared/webhook/endpoint/endpoint.ts'
import { toEndpointDto } from '../../shared/webhook/endpoint/endpoint-dto.ts'

/** How this tree reads an item from a table that has nothing else. */
type Reader = (item: Item, deps: Pick<Deps, 'table'>) => unknown

const parsed =
  (schema: v.GenericSchema): Reader =>
  (item) =>
    v.parse(schema, item)

/** As the API answers a merchant or an operator. */
const shown =
  <Value>(schema: v.GenericSchema<unknown, Value>, show: (value: Value) => unknown): Reader =>
  (item) =>
    show(v.parse(schema, item))

/** A finished job has no due time: no worker claims it. */
const job: Reader = (item) => (item['dueAt'] === undefined ? 'done' : v.parse(SyncJobSchema, item))

export const READERS: Readonly<Record<string, Reader>> = {
  ADJUSTMENT: parsed(AdjustmentSchema),
  APIKEY: shown(ApiKeySchema, toApiKeyDto),
  AUDIT: shown(AuditRecordSchema, toAuditRecordDto),
  'AUDIT HEAD': parsed(AuditHeadSchema),
  CLIENT: shown(ClientSchema, toClientDto),
  'DELIVERY ATTEMPT': parsed(DeliveryAttemptSchema),
  DELIVERY: shown(DeliverySchema, (delivery) => toDeliveryDto({ delivery, attempts: [] })),
  'ENDPOINTS ENDPOINT': shown(EndpointSchema, toEndpointDto),
  HOUSE: parsed(HouseTotalSchema),
  JOURNAL: parseEntry,
  'JOURNAL house': parsed(HouseEntrySchema),
  'LEDGER SHARD': (item) => v.parse(ShardSchema, { ...item, number: 0 }),
  'LEDGER WINDOW': parsed(WindowSchema),
  PAYMENT: shown(PaymentSchema, toPaymentDto),
  'PAYMENT EVENT': parsed(EventSchema),
  'PAYMENT creating': parsed(CreatingPaymentSchema),
  SETTLEMENT: shown(SettlementSchema, toSettlementDto),
  SUSPENSE: shown(SuspenseSchema, toSuspenseDto),
  'SYNC head': job,
  'SYNC open': job,
  'SYNC position': parsed(HeadSchema),
  'SYNC reversals': job,
  'SYNC tail': job,
  VERDICT: (item) => v.parse('settlementId' in item ? SettlementVerdictSchema : ClientVerdictSchema, item),
}

/** Counters, which flows only add to; and pointers, where flows read only the key. */
export const UNREAD: readonly string[] = [
  'DESTINATION',
  'QUOTA',
  'QUOTA pauses',
  'RATE',
  'RATE of a key',
  'REFERENCE',
  'REFERENCE PAYOUT',
]
