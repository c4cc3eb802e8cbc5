import type * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { ApiKeySchema } from '../../shared/client/api-key-store.ts'
import { ClientSchema } from '../../shared/client/client.ts'
import { EventFields } from '../../shared/event/event.ts'
import { WindowSchema } from '../../shared/ledger/window-store.ts'
import { CreatingPaymentSchema, PaymentFields } from '../../shared/payment/payment.ts'
import { SettlementSchema } from '../../shared/settlement/settlement.ts'
import { SuspenseSchema } from '../../shared/suspense/suspense.ts'
import { attributeName, fieldName, fromItem, toItem } from '../../shared/table/attributes.ts'
import { TABLE_SCHEMA } from '../../shared/table/schema.ts'
import { DeliveryAttemptSchema, DeliverySchema } from '../../shared/webhook/delivery/delivery.ts'
import { EndpointSchema } from '../../shared/webhook/endpoint/endpoint.ts'

type EntitySchema = { readonly entries: Readonly<Record<string, v.GenericSchema>> }

const ENTITIES: readonly EntitySchema[] = [
  PaymentFields,
  CreatingPaymentSchema,
  EventFields,
  EndpointSchema,
  DeliverySchema,
  DeliveryAttemptSchema,
  ClientSchema,
  ApiKeySchema,
  SettlementSchema,
  SuspenseSchema,
  WindowSchema,
]

const FIELDS = [...new Set(ENTITIES.flatMap(({ entries }) => Object.keys(entries)))]

describe('the spelling rule between code and table', () => {
  it('spells attributes in snake_case, and two fields never alike', () => {
    const attributes = FIELDS.map(attributeName)

    expect(attributes.filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name))).toStrictEqual([])
    expect(new Set(attributes).size).toBe(FIELDS.length)
  })

  it('is undone by its reverse for every field, and every attribute the indexes name', () => {
    const { indexes, attributeTypes } = TABLE_SCHEMA
    const inIndexes = Object.values(indexes).flatMap((index) => [index.partition, index.sort].flat())
    const names: readonly string[] = [...Object.keys(attributeTypes), ...inIndexes]

    expect(names.map((name) => attributeName(fieldName(name)))).toStrictEqual(names)
    expect(FIELDS.map((name) => fieldName(attributeName(name)))).toStrictEqual(FIELDS)
  })
})

// That they undo each other and leave out what is undefined: `dynamodb-table.test.ts`, and every store.
describe('toItem and fromItem', () => {
  it('spell the top level alone', () => {
    expect(toItem({ bankDetails: { bankName: 'BCA' } })).toStrictEqual({ bank_details: { bankName: 'BCA' } })
    expect(fromItem({ bank_details: { bank_name: 'BCA' } })).toStrictEqual({ bankDetails: { bank_name: 'BCA' } })
  })
})
