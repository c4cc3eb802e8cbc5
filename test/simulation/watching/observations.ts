import { listPoints } from '../../../shared/page.ts'
import type { HttpReply, HttpRequest } from '../world/lambda.ts'
import type { Tenant } from '../world/tenants.ts'
import { addTo, type World } from '../world/world.ts'

type Asked = {
  readonly clientId: string
  readonly atMs: number
  weight: number
  readonly name: string
  /**
   * An unanswered request may be in a frozen environment. The rate limit counts it when that one
   * continues.
   */
  answered: boolean
}

/** Invariants compare the observations with the table. */
export function createObservations() {
  return {
    /** Destinations ever shown for a tenant's idempotency key. */
    destinations: new Map<string, Set<string>>(),
    paymentsOfKey: new Map<string, Set<string>>(),
    /** Payments that answers have shown to a tenant. */
    known: new Map<string, Set<string>>(),
    asked: [] as Asked[],
  }
}

export type Observations = Readonly<ReturnType<typeof createObservations>>

export function observeCreate(
  seen: Observations,
  tenant: Tenant,
  idempotencyKey: string | undefined,
  reply: HttpReply | undefined,
) {
  if (reply === undefined || reply.status >= 300) return
  const id = String(reply.body['id'])
  addTo(seen.known, tenant.clientId, id)
  if (idempotencyKey === undefined) return
  const key = `${tenant.clientId} ${idempotencyKey}`
  addTo(seen.paymentsOfKey, key, id)
  addTo(seen.destinations, key, String(reply.body['payment_destination']))
}

/** An answer to one tenant must hold nothing of another one. */
export function observeAnswer(
  { problems }: World,
  tenant: Tenant,
  others: readonly Tenant[],
  reply: HttpReply | undefined,
) {
  if (reply === undefined) return
  if (reply.status >= 500 && reply.body['code'] === undefined)
    problems.push(`an error without a code: ${reply.text}`)
  for (const other of others) {
    if (other.clientId !== tenant.clientId && reply.text.includes(other.clientId)) {
      problems.push(`an answer to ${tenant.clientId} names ${other.clientId}`)
    }
  }
}

export function askedFor(
  { scheduler }: World,
  { clientId }: Tenant,
  name: string,
  asked: HttpRequest,
): Asked {
  const { query, body } = asked
  // Points that a request takes before it works.
  const weight =
    body === undefined
      ? listPoints(Number(query?.['per_page'] ?? query?.['limit'] ?? 0))
      : 1 + Math.floor(Buffer.byteLength(body) / (6 * 1_024))
  return { clientId, atMs: scheduler.nowMs(), weight, name, answered: false }
}

/**
 * Machines' clocks differ by twenty seconds at most, and a call may take as long as its function.
 */
const NEAR_MS = 60_000

/**
 * A client gets a 429 only after more requests than its own limit, or its share of the quota,
 * allows, while the provider accepts no creates, or while its redelivery cannot be alerted first.
 */
export function refusalProblems(
  world: World,
  { clientId, rateLimit }: Tenant,
  asked: readonly Asked[],
  { atMs, name }: Asked,
  reply: HttpReply | undefined,
) {
  if (reply?.status !== 429) return []
  // The SDK may repeat a count whose answer was lost. A counter has no token, so the request then
  // counts twice.
  const times = world.faults.tableRetried > 0 ? 2 : 1
  const own = asked.filter((request) => request.clientId === clientId)
  const since = (sinceMs: number) =>
    own.filter((request) => request.atMs >= sinceMs || !request.answered)
  const used = since(atMs - NEAR_MS).reduce((sum, { weight }) => sum + weight * times, 0)
  if (String(reply.body['message']).startsWith('the limit of '))
    return rateLimit !== undefined && used > rateLimit
      ? []
      : [`${clientId} was refused after ${used} requests`]
  if (String(reply.body['message']).startsWith('the provider accepts no payments now'))
    return world.createsPausedUntilMs > atMs - NEAR_MS
      ? []
      : [`${clientId} was refused a create, and the provider accepts creates`]
  if (name.includes('redeliver'))
    return world.alertFailedAtMs > atMs - NEAR_MS
      ? []
      : [`${clientId} was refused a redelivery, and the topic takes alerts`]
  const creates =
    since(atMs - 2 * NEAR_MS).filter((request) => request.name === name).length * times
  return creates > Math.max(1, Math.floor(world.callsPerMinute / 4))
    ? []
    : [`${clientId} was refused its ${creates}. create`]
}
