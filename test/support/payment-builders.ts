import * as v from 'valibot'
import type { Client } from '../../shared/client/client.ts'
import { insertClient } from '../../shared/client/client-store.ts'
import { ClientIdSchema } from '../../shared/ids.ts'
import { minor } from '../../shared/money.ts'
import type { CreateResult } from '../../shared/payment/create/create-attempt.ts'
import { createPayment } from '../../shared/payment/create/create-payment.ts'
import type { Payment, PaymentRequest } from '../../shared/payment/payment.ts'
import type { TestDeps } from './test-deps.ts'

/** A merchant in the table. */
export const aStoredClient = async (deps: TestDeps, fields: Partial<Client> = {}): Promise<Client> => {
  const client: Client = {
    clientId: v.parse(ClientIdSchema, deps.newId()),
    name: 'Warung Kopi Satu',
    enabled: true,
    settlementFloorMinor: minor(10_000),
    createdAt: deps.now(),
    ...fields,
  }
  await insertClient(deps, client, 'test')
  return client
}

export const aRequest = (fields: Partial<PaymentRequest> = {}): PaymentRequest => ({
  method: 'virtual_account',
  channelCode: 'BCA',
  notionalMinor: minor(100_000),
  currency: 'IDR',
  ...fields,
})

export const create = (
  deps: TestDeps,
  client: Client,
  request: PaymentRequest = aRequest(),
  idempotencyKey?: string,
): Promise<CreateResult> => createPayment(deps, { client, idempotencyKey, parsed: { ok: true, request } })

export const OVO_REQUEST: Partial<PaymentRequest> = {
  method: 'ewallet',
  channelCode: 'OVO',
  customer: { phone: '+6281234567890' },
}

/** A payment that waits for the customer. */
export const aPendingPayment = async (
  deps: TestDeps,
  client: Client,
  fields: Partial<PaymentRequest> = {},
): Promise<Payment> => (await create(deps, client, aRequest(fields))).payment
