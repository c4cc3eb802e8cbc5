import { answerProviderCall } from '../../../infra/local/provider-simulator/answer-provider-call.ts'
import {
  type HttpCall,
  type HttpOutcome,
  type RateLimit,
  rateLimitOf,
} from '../../../shared/provider/call-json.ts'
import { type Process } from './process.ts'
import { DAY_MS } from './rules.ts'
import { count } from './tally.ts'
import { actingAs, hasFault, isFaultOn, lag, noteFault, PROVIDER_KEY, type World } from './world.ts'

const MINUTE_MS = 60_000
const REQUESTS = '/v3/payment_requests'
const PAYMENTS = '/v3/payments/'

export function providerNetwork(world: World, process: () => Process) {
  return async (asked: HttpCall) => {
    const { method, url, headers, body, timeoutMs } = asked
    const label = `provider ${method} ${url.pathname.replace(/\/(pr|py|txn)[-_][^/]+/, '/{id}')}`
    const drawnMs = hasFault(world, 'providerSlow')
      ? world.prng.int(1_000, 15_000)
      : (world.providerMs ?? world.prng.int(20, 400))
    const slowMs = world.slowCallsMs.get(slowKey(asked)) ?? drawnMs
    const effect = (): HttpOutcome => {
      if (hasFault(world, 'providerUnreachable'))
        return { kind: 'not_sent', reason: 'ECONNREFUSED' }
      if (hasFault(world, 'providerServerError'))
        return answered(500, { error_code: 'SERVER_ERROR' })
      if (hasFault(world, 'providerRateLimit') || isBusy(world))
        return limited(world.prng.int(100, 90_000))
      const quota = takeFromQuota(world, label)
      if (quota && quota.remaining < 0) {
        noteFault(world, 'providerQuota')
        return limited(quota.resetMs)
      }
      const withheld = withheldAnswer(world, asked)
      if (withheld) return withheld
      const call = {
        method,
        path: url.pathname,
        query: shownQuery(world, url),
        headers,
        body: JSON.stringify(body ?? {}),
      }
      const answer = answerProviderCall(world.provider, PROVIDER_KEY, call)
      if (answer === undefined || answer.kind === 'silence')
        return { kind: 'lost', reason: 'timeout' }
      // As over HTTP, the answer shares no object with the provider's state.
      const fresh = answered(answer.status, JSON.parse(JSON.stringify(answer.body)))
      if (isUnseen(world, asked, fresh)) return answered(404, { error_code: 'DATA_NOT_FOUND' })
      const seen = perhapsStale(world, asked, fresh)
      if (slowMs > timeoutMs || hasFault(world, 'providerAnswerLost'))
        return { kind: 'lost', reason: 'timeout' }
      const rateLimit = quota ?? rateLimitOf((name) => new Headers(answer.headers).get(name))
      return { ...seen, ...(rateLimit && { rateLimit }) }
    }
    const own = process()
    // Half of the slow calls are slow on their way: the provider receives them later, even if their
    // sender died.
    const onItsWayMs = slowMs !== drawnMs && slowMs % 2 === 0 ? Math.min(slowMs / 2, timeoutMs) : 0
    for (const listen of world.onAsked) listen(own, method, url.pathname, body)
    const backMs = Math.min(slowMs, timeoutMs) - onItsWayMs
    const outcome = await own.call(label, actingAs(world, own, effect), backMs, onItsWayMs)
    notePause(world, asked, outcome)
    for (const listen of world.onAnswered)
      listen(own, { method, path: url.pathname, query: url.searchParams, outcome })
    return outcome
  }
}

/**
 * The key in `slowCallsMs`: the payment of a create, the request of a cancel, or the path of
 * another call.
 */
function slowKey({ method, url, body }: HttpCall) {
  return method === 'POST' && url.pathname === REQUESTS
    ? textIn(body, 'reference_id').slice(0, 36)
    : (cancelledRequest(method, url.pathname) ?? url.pathname)
}

function textIn(json: unknown, field: string) {
  return String(Object(json)[field])
}

export function cancelledRequest(method: string, path: string) {
  return method === 'POST' ? /^\/v3\/payment_requests\/([^/]+)\/cancel$/.exec(path)?.[1] : undefined
}

type Answered = Extract<HttpOutcome, { kind: 'answered' }>

function answered(status: number, json: unknown): Answered {
  return { kind: 'answered', status, json }
}

/** For a while the provider refuses every second call, each with another time to wait. */
function isBusy(world: World) {
  return (
    isFaultOn(world, 'provider busy', 4 * world.faults.providerRateLimit, 5_000, 3 * MINUTE_MS) &&
    world.prng.chance(0.5)
  )
}

/** A pause begins when its caller hears of it, which may have been frozen since the answer. */
function notePause(world: World, { method, url }: HttpCall, outcome: HttpOutcome) {
  if (method !== 'POST' || url.pathname !== REQUESTS || outcome.kind !== 'answered') return
  const { status, rateLimit } = outcome
  if (status !== 429 && rateLimit?.remaining !== 0) return
  const untilMs = world.scheduler.nowMs() + (rateLimit?.resetMs ?? MINUTE_MS)
  world.createsPausedUntilMs = Math.max(world.createsPausedUntilMs, untilMs)
}

function limited(resetMs: number) {
  const answer = answered(429, { error_code: 'RATE_LIMIT_EXCEEDED' })
  return resetMs < MINUTE_MS ? { ...answer, rateLimit: { remaining: 0, resetMs } } : answer
}

/** Undefined if the provider has no quota. */
function takeFromQuota(world: World, operation: string): RateLimit | undefined {
  if (world.faults.providerQuota === 0) return undefined
  const nowMs = world.scheduler.nowMs()
  const during = (world.providerCalls.get(operation) ?? []).filter(
    (atMs) => atMs > nowMs - MINUTE_MS,
  )
  const resetMs = (during[0] ?? nowMs) + MINUTE_MS - nowMs
  const remaining = world.callsPerMinute - during.length - 1
  if (remaining >= 0) during.push(nowMs)
  world.providerCalls.set(operation, during)
  return { remaining, resetMs }
}

/**
 * A payment of two days that the provider does not show is none of ours for the sync. So each is
 * shown after a day.
 */
function isUnseen(world: World, { method, url }: HttpCall, fresh: Answered) {
  if (method !== 'GET' || !url.pathname.startsWith(PAYMENTS) || fresh.status !== 200) return false
  const nowMs = world.scheduler.nowMs()
  const unseenUntilMs = world.unseenUntilMs.get(url.pathname.slice(PAYMENTS.length)) ?? 0
  if (unseenUntilMs > nowMs) return true
  const isYoung = nowMs - Date.parse(textIn(fresh.json, 'created')) < DAY_MS
  return isYoung && hasFault(world, 'providerBehind')
}

function withheldAnswer(
  world: World,
  { method, url: { pathname, searchParams } }: HttpCall,
): Answered | undefined {
  const isList = pathname === '/transactions'
  const subject = isList
    ? `fee of ${searchParams.get('product_id') ?? ''}`
    : (pathname.split('/')[3] ?? '')
  const withheld = method === 'GET' ? world.withheld.get(subject) : undefined
  if (withheld === undefined || withheld.untilMs <= world.scheduler.nowMs()) return undefined
  count(world.tally, `withheld: ${withheld.says}`)
  if (withheld.says === 'too often') return limited(world.prng.int(100, 90_000))
  return withheld.says === 'nothing'
    ? answered(503, { error_code: 'SERVICE_UNAVAILABLE' })
    : answered(404, { error_code: 'DATA_NOT_FOUND' })
}

/**
 * A list may lack the newest rows. The provider does not document its longest page, and shortens a
 * larger one.
 */
function shownQuery(world: World, { pathname, searchParams }: URL) {
  const query = new URLSearchParams(searchParams)
  if (pathname !== '/transactions') return query
  query.set(
    'limit',
    String(Math.min(Number(query.get('limit') ?? world.rowsAPage), world.rowsAPage)),
  )
  if (world.faults.rowsBehindMs === 0) return query
  const untilMs = world.scheduler.nowMs() - lag(world, world.faults.rowsBehindMs)
  if (Date.parse(query.get('updated[lte]') ?? '') <= untilMs) return query
  const until = new Date(untilMs).toISOString()
  const young = new URLSearchParams({ 'updated[gte]': until, limit: '1' })
  if (world.provider.listTransactions(young).data.length > 0) noteFault(world, 'rowsBehindMs')
  query.set('updated[lte]', until)
  return query
}

/** A read may come from a replica that lacks the changes of the last minute. */
function perhapsStale(world: World, { method, url }: HttpCall, fresh: Answered) {
  if (method === 'POST' && url.pathname === REQUESTS && fresh.status === 201) {
    world.formerRequests.set(`${REQUESTS}/${textIn(fresh.json, 'payment_request_id')}`, fresh.json)
  }
  if (method !== 'GET' || !url.pathname.startsWith(`${REQUESTS}/`) || fresh.status !== 200)
    return fresh
  const updated = textIn(fresh.json, 'updated')
  const former = world.formerRequests.get(url.pathname)
  const isYoung = world.scheduler.nowMs() - Date.parse(updated) < MINUTE_MS
  if (
    isYoung &&
    former !== undefined &&
    textIn(former, 'updated') !== updated &&
    hasFault(world, 'providerStale')
  ) {
    return { ...fresh, json: former }
  }
  world.formerRequests.set(url.pathname, fresh.json)
  return fresh
}
