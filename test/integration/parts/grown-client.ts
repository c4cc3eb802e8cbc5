import { expect } from 'vitest'
import { handler as updateClient } from '../../../functions/admin/update-client.ts'
import type { Client } from '../../../shared/client/client.ts'
import { findClient } from '../../../shared/client/client-store.ts'
import { partOf } from '../../../shared/ids.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { addMs } from '../../../shared/time.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { storePosted, succeededPayment } from '../../support/paid-builders.ts'
import { withFloor } from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/** The client as a create reads it now. */
export const grown = async (deps: TestDeps, { clientId }: Client, parts: number): Promise<Client> => {
  const answer = await invokeAdmin(updateClient, deps, { operator: 'ana', client_id: clientId, ledger_parts: parts })
  expect(answer).toMatchObject({ status: 200, body: { ledger_parts: parts } })
  const client = await findClient(deps, clientId)
  if (!client) throw new Error('a client is never deleted')
  return client
}

/** Paid one after the other, some in the same millisecond, in the parts that ids say: first of one, then of four. */
const paidPayments = (client: Client, deps: TestDeps, count: number): readonly Payment[] =>
  Array.from({ length: count }, (_, at) => {
    const paidAt = addMs(deps.now(), Math.floor(at / 3))
    const payment = succeededPayment(client, { paidAt, notionalMinor: 10_000 + at, externalReference: 'each' })
    return at < count / 4 ? payment : { ...payment, part: partOf(payment.paymentId, 4) || undefined }
  })

const place = (by: 'createdAt' | 'paidAt') => (payment: Payment) => `${payment[by]} ${payment.paymentId}`
export const idsBy = (payments: readonly Payment[], by: 'createdAt' | 'paidAt') =>
  payments.toSorted((a, b) => (place(by)(a) < place(by)(b) ? -1 : 1)).map(({ paymentId }) => paymentId)

/** A client of four parts with payments in all of them. */
export const manyPaid = async (count: number) => {
  const deps = memoryDeps()
  const client = await grown(deps, await withFloor(deps), 4)
  deps.clock.advance(3_600)
  const payments = await storePosted(deps, paidPayments(client, deps, count))
  expect(new Set(payments.map(({ part }) => part))).toStrictEqual(new Set([undefined, 1, 2, 3]))
  return { deps, client, payments }
}
