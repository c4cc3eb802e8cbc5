import { type FunctionSpec, routeKeyOf } from '../../../functions/function-spec.ts'
import { askedApproval } from '../../support/with-approval.ts'
import { type Environment, functionOf, putBack, takeEnvironment } from './environments.ts'
import { type CrashPoint, type Process, startProcess } from './process.ts'
import { count } from './tally.ts'
import { hasFault, isFaultOn, noteFault, trace, type World, waitFor } from './world.ts'

type Invocation =
  | { readonly kind: 'done'; readonly result: unknown }
  /** The handler threw: Lambda reports an error. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Killed, or past its time limit. */
  | { readonly kind: 'died' }
  /** No concurrency was left: nothing was started. */
  | { readonly kind: 'throttled' }

export type InvokeOptions = {
  readonly crashAt?: CrashPoint
  /**
   * The platform answers after `afterMs`; the handler continues when its environment is reused,
   * after `forMs`. `withClock`: the environment's monotonic clock also stops.
   */
  readonly freeze?:
    | { readonly afterMs: number; readonly forMs: number; readonly withClock?: boolean }
    | undefined
  readonly onProcess?: (process: Process) => void
}

export function invoke(
  world: World,
  name: string,
  event: unknown,
  options: InvokeOptions = {},
): Promise<Invocation> {
  const loaded = functionOf(name)
  if (isThrottled(world, loaded.spec)) return Promise.resolve({ kind: 'throttled' })
  const requestId = world.prng.uuid()
  count(world.tally, `run ${name}`)
  trace(world, () => `> ${name} ${requestId.slice(0, 8)} ${JSON.stringify(event).slice(0, 300)}`)
  return new Promise<Invocation>((resolve) => {
    const ended = (invocation: Invocation) => {
      cancelTimeout()
      trace(
        world,
        () => `< ${name} ${requestId.slice(0, 8)} ${JSON.stringify(invocation).slice(0, 300)}`,
      )
      resolve(invocation)
    }
    const process = startProcess(world, name, options.crashAt, () => {
      count(world.tally, 'fault crash')
      for (const listen of world.onEnded) listen(process, 'died')
      ended({ kind: 'died' })
    })
    // A flow whose awaits are counted starts cold, because the cache of an earlier run would hide
    // some of them.
    const cold = options.crashAt !== undefined || options.onProcess !== undefined
    const environment = takeEnvironment(world, loaded, process, { cold })
    if (options.freeze?.withClock === true) environment.clockStops = true
    const cancelTimeout = world.scheduler.after(environment.timeoutMs, () => process.kill())
    options.onProcess?.(process)
    for (const listen of world.onStarted) listen(process, event)
    let over = false
    const returned = (invocation: Extract<Invocation, { kind: 'done' | 'failed' }>) => {
      if (environment.unfinished === process) environment.unfinished = undefined
      if (process.alive()) for (const listen of world.onEnded) listen(process, invocation.kind)
      finished(invocation)
    }
    const finished = (invocation: Invocation, unusedMs?: number) => {
      // The result of a handler that was answered early is lost.
      if (!process.alive() || over) return
      over = true
      cancelEarly()
      putBack(world, environment, unusedMs)
      ended(invocation)
    }
    const cancelEarly = answerEarly(world, environment, options, () => {
      environment.unfinished = process
      finished({ kind: 'died' }, options.freeze?.forMs)
    })
    // The context has no remaining time, so middy sets no timer. The simulation has its own limit
    // above.
    environment
      .handle(event, { awsRequestId: requestId, functionName: `gateway-sim-${name}` })
      .then(
        (result) => returned({ kind: 'done', result }),
        (error: unknown) => returned({ kind: 'failed', error }),
      )
  })
}

/**
 * Other functions use the account's concurrency: most invocations of functions without a reserved
 * one are refused.
 */
function isThrottled(world: World, { reservedConcurrency }: FunctionSpec) {
  if (reservedConcurrency !== undefined) return false
  if (!isFaultOn(world, 'concurrency taken', world.faults.concurrencyTaken, 1_000, 180_000))
    return false
  if (world.prng.chance(0.3)) return false
  noteFault(world, 'concurrencyTaken')
  return true
}

/**
 * The platform may answer instead of an HTTP handler before its timeout. The handler is then
 * frozen.
 */
function answerEarly(
  world: World,
  { loaded, timeoutMs }: Environment,
  { freeze }: InvokeOptions,
  answer: () => void,
) {
  if (freeze) return world.scheduler.after(freeze.afterMs, answer)
  const answersHttp = loaded.spec.trigger.kind === 'http'
  if (!answersHttp || !hasFault(world, 'answeredEarly')) return () => undefined
  return world.scheduler.after(world.prng.int(1, timeoutMs), answer)
}

type AdminAnswer = { readonly status: number; readonly body: Record<string, unknown> }

/**
 * Nothing retries an operator's action. An honest second person approves what is true, and the
 * action is repeated once; `isFalse`: the claim of the action is not true.
 */
export async function operate(
  world: World,
  action: string,
  payload: object,
  { isFalse = false, ...options }: InvokeOptions & { readonly isFalse?: boolean } = {},
) {
  const act = async (name: string, input: object) => {
    const invocation = await invoke(world, name, { operator: 'sim', ...input }, options)
    return invocation.kind === 'done' ? (invocation.result as AdminAnswer) : undefined
  }
  const reply = await act(action, payload)
  const asked = askedApproval(reply?.body['action_hint'])
  if (asked === undefined || isFalse) return reply
  await act('approve', { ...asked, operator: 'approver' })
  return act(action, payload)
}

export type HttpReply = {
  readonly status: number
  readonly text: string
  readonly body: Record<string, unknown>
}

export type HttpRequest = {
  readonly id?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Undefined if the caller got no answer of the gateway. */
export async function request(
  world: World,
  functionName: string,
  { id, headers = {}, query, body }: HttpRequest,
  options: InvokeOptions = {},
): Promise<HttpReply | undefined> {
  const event = {
    version: '2.0',
    routeKey: routeKeyOf(functionOf(functionName).spec),
    headers,
    ...(query && { queryStringParameters: query }),
    ...(id !== undefined && { pathParameters: { id } }),
    requestContext: { requestId: world.prng.uuid() },
    isBase64Encoded: false,
    ...(body !== undefined && { body }),
  }
  const invocation = await invoke(world, functionName, event, options)
  if (invocation.kind !== 'done') return undefined
  const { statusCode, body: text } = invocation.result as {
    readonly statusCode: number
    readonly body: string
  }
  return { status: statusCode, text, body: JSON.parse(text) as HttpReply['body'] }
}

export function requestAs(
  world: World,
  { apiKey }: { readonly apiKey: string },
  functionName: string,
  { headers, ...asked }: HttpRequest = {},
  options: InvokeOptions = {},
) {
  return request(
    world,
    functionName,
    { ...asked, headers: { authorization: `Bearer ${apiKey}`, ...headers } },
    options,
  )
}

export function connectCallbacks(world: World) {
  world.sendCallback = async (body, headers) => {
    if (hasFault(world, 'callbackLost')) throw new Error('the callback was lost')
    const delayMs =
      world.faults.callbackLateMs > 0
        ? world.prng.int(0, Math.floor(world.faults.callbackLateMs))
        : 5
    if (delayMs > 60_000) count(world.tally, 'fault callbackLateMs')
    await waitFor(world, delayMs)
    const deliver = async () => {
      const reply = await request(world, 'receive-provider-callback', { headers, body })
      if (reply)
        for (const listen of world.onCallback)
          listen(body, headers['x-callback-token'], reply.status)
      return reply
    }
    if (hasFault(world, 'callbackTwice')) void deliver()
    const reply = await deliver()
    if (reply === undefined) throw new Error('no answer')
    return reply.status
  }
}
