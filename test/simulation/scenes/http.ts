import { pointsOf } from '../../../shared/client/enforce-rate-limit.ts'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { text } from '../../support/recount/books.ts'
import { reportSituation } from '../sometimes/report-situation.ts'
import {
  askedFor,
  type Observations,
  observeAnswer,
  observeCreate,
  refusalProblems,
} from '../watching/observations.ts'
import { type HttpReply, type HttpRequest, type InvokeOptions, requestAs } from '../world/lambda.ts'
import { paymentRow } from '../world/rows.ts'
import type { Tenant } from '../world/tenants.ts'
import type { World } from '../world/world.ts'

export type Scene = Pick<
  World,
  'prng' | 'scenePrng' | 'scheduler' | 'provider' | 'table' | 'merchants'
> & { readonly world: World; readonly tenants: Tenant[]; readonly seen: Observations }

/** No scene acts when everything must come to rest. */
export type Happens = (probability: number) => boolean

const CREATE = 'api-create-payment'
const TERMINAL = ['succeeded', 'failed', 'expired', 'cancelled']

export async function http(
  play: Scene,
  tenant: Tenant,
  functionName: string,
  asked: HttpRequest = {},
  options: InvokeOptions = {},
) {
  const now = askedFor(play.world, tenant, functionName, asked)
  play.seen.asked.push(now)
  const { apiKey, isBeingChanged = false } = tenant
  const key = functionName === CREATE ? asked.headers?.['idempotency-key'] : undefined
  const paymentId = key === undefined ? asked.id : paymentIdForKey(tenant.clientId, key)
  const was = text(paymentRow(play.world, paymentId) ?? {}, 'status')
  const unitsBefore = play.world.unitsUsed.get(functionName) ?? 0
  const reply = await requestAs(play.world, tenant, functionName, asked, options)
  now.answered = reply !== undefined
  // What a request uses beyond its points is counted too. A list takes the points before it reads,
  // by an upper bound that may be twice what it then uses.
  const units = (play.world.unitsUsed.get(functionName) ?? 0) - unitsBefore
  now.weight = Math.max(now.weight, pointsOf(2 * units))
  // A failed request owes the upper bound of its cost (design section 9).
  if (reply === undefined || reply.status >= 500) now.weight = Number.POSITIVE_INFINITY
  observeAnswer(play.world, tenant, play.tenants, reply)
  play.world.problems.push(...refusalProblems(play.world, tenant, play.seen.asked, now, reply))
  // A caller with its own key is accepted, unless an operator is changing its client.
  if (
    reply?.status === 401 &&
    apiKey === tenant.apiKey &&
    !isBeingChanged &&
    !tenant.isBeingChanged
  )
    play.world.problems.push(`${tenant.clientId} is refused with its own key`)
  if (reply) play.world.problems.push(...statusProblems(play, functionName, was, reply))
  return reply
}

/**
 * A terminal status in an answer is the stored one, and a payment that had ended before the request
 * is shown with that end, also by a replay of its create. A cancel that succeeds shows a cancelled
 * payment.
 */
function statusProblems(
  { world }: Scene,
  functionName: string,
  was: string,
  { status, body }: HttpReply,
) {
  const { id, status: shown } = body
  const row = paymentRow(world, id)
  if (status !== 200 || row === undefined) return []
  const [kept, isCancel] = [text(row, 'status'), functionName === 'api-cancel-payment']
  if (functionName === CREATE && TERMINAL.includes(was))
    reportSituation(world, 'a create is replayed after its payment has ended')
  const mustBeKept = TERMINAL.includes(String(shown)) || TERMINAL.includes(was) || isCancel
  return mustBeKept && (kept !== shown || (isCancel && shown !== 'cancelled'))
    ? [`${functionName} showed ${String(id)} as ${String(shown)}, which is ${kept}`]
    : []
}

export async function createAs(
  play: Scene,
  tenant: Tenant,
  key: string | undefined,
  body: string,
  options: InvokeOptions = {},
) {
  const headers: HttpRequest['headers'] = key === undefined ? {} : { 'idempotency-key': key }
  const reply = await http(play, tenant, CREATE, { headers, body }, options)
  observeCreate(play.seen, tenant, key, reply)
  return reply
}

export function tenantOf({ tenants }: Scene, clientId: unknown) {
  return tenants.find((tenant) => tenant.clientId === clientId)
}
