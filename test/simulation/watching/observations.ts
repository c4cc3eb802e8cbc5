import type { HttpReply } from '../world/lambda.ts'
import type { Tenant } from '../world/tenants.ts'
import type { Asked } from './watch-refusals.ts'

/** What merchants have seen, kept beside the table so that invariants can hold one against the other. */
export type Observations = {
  /** Destinations ever shown for a tenant's idempotency key. */
  readonly destinations: Map<string, Set<string>>
  /** Payments ever shown for a tenant's idempotency key. */
  readonly paymentsOfKey: Map<string, Set<string>>
  /** Payments a tenant has been told of. */
  readonly known: Map<string, Set<string>>
  /** Every request of a merchant. */
  readonly asked: Asked[]
  readonly problems: string[]
}

export const createObservations = (): Observations => ({
  destinations: new Map(),
  paymentsOfKey: new Map(),
  known: new Map(),
  asked: [],
  problems: [],
})

const add = (map: Map<string, Set<string>>, key: string, value: string) => {
  const values = map.get(key) ?? new Set()
  values.add(value)
  map.set(key, values)
}

/** Notes the answer to a create. */
export const observeCreate = (
  seen: Observations,
  tenant: Tenant,
  idempotencyKey: string | undefined,
  reply: HttpReply | undefined,
): void => {
  if (reply === undefined || reply.status >= 300) return
  const id = String(reply.body['id'])
  add(seen.known, tenant.clientId, id)
  if (idempotencyKey === undefined) return
  const key = `${tenant.clientId} ${idempotencyKey}`
  add(seen.paymentsOfKey, key, id)
  add(seen.destinations, key, String(reply.body['payment_destination']))
}

/** An answer to one tenant must hold nothing of another one. */
export const observeAnswer = (
  seen: Observations,
  tenant: Tenant,
  others: readonly Tenant[],
  reply: HttpReply | undefined,
): void => {
  if (reply === undefined) return
  if (reply.status >= 500 && reply.body['code'] === undefined)
    seen.problems.push(`an error without a code: ${reply.text}`)
  for (const other of others) {
    if (other.clientId !== tenant.clientId && reply.text.includes(other.clientId)) {
      seen.problems.push(`an answer to ${tenant.clientId} names ${other.clientId}`)
    }
  }
}
