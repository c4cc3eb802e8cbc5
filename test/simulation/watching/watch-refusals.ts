import { listPoints } from '../../../shared/page.ts'
import type { HttpReply, HttpRequest } from '../world/lambda.ts'
import type { Tenant } from '../world/tenants.ts'
import type { World } from '../world/world.ts'

/** One request of a merchant, and how much of its rate limit it takes. */
export type Asked = {
  readonly clientId: string
  readonly atMs: number
  readonly weight: number
  readonly name: string
  /** One that was not may stand still in a frozen environment, and be counted whenever that one goes on. */
  answered: boolean
}

/** Machines' clocks differ by twenty seconds at most, and a call may take as long as its function. */
const NEAR_MS = 60_000
const MINUTE_MS = 60_000

/** Points that a request takes before it works. */
const weightOf = ({ query, body }: HttpRequest): number =>
  body === undefined
    ? listPoints(Number(query?.['per_page'] ?? query?.['limit'] ?? 0))
    : 1 + Math.floor(Buffer.byteLength(body) / (6 * 1_024))

export const askedFor = ({ scheduler }: World, { clientId }: Tenant, name: string, asked: HttpRequest): Asked => ({
  clientId,
  atMs: scheduler.nowMs(),
  weight: weightOf(asked),
  name,
  answered: false,
})

const isOfLimit = ({ body }: HttpReply) => String(body['message']).startsWith('the limit of ')

/** A counter has no token: a request whose count the SDK sends twice, having lost the answer, is counted twice. */
const countedTimes = ({ faults }: World) => (faults.tableRetried > 0 ? 2 : 1)

/**
 * A client that is refused with 429 has asked for more than it may: of its own limit or, for a create, of its share of a
 * scarce quota. What others ask for refuses no client.
 */
export const refusalProblems = (
  world: World,
  { clientId, rateLimit }: Tenant,
  asked: readonly Asked[],
  { atMs, name }: Asked,
  reply: HttpReply | undefined,
): readonly string[] => {
  if (reply?.status !== 429) return []
  const times = countedTimes(world)
  const own = asked.filter((other) => other.clientId === clientId)
  const since = (sinceMs: number) => own.filter((other) => other.atMs >= sinceMs || !other.answered)
  const used = since(atMs - NEAR_MS).reduce((sum, { weight }) => sum + weight * times, 0)
  if (isOfLimit(reply)) {
    return rateLimit !== undefined && used > rateLimit ? [] : [`${clientId} was refused after ${used} requests`]
  }
  const creates = since(atMs - NEAR_MS - MINUTE_MS).filter((other) => other.name === name).length * times
  return creates > Math.max(1, Math.floor(world.callsPerMinute / 4))
    ? []
    : [`${clientId} was refused its ${creates}. create`]
}
