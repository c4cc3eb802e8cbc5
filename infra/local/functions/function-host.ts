import { randomUUID } from 'node:crypto'
import type { Context } from 'aws-lambda'
import { type FunctionSpec, functionName } from '../../../functions/function-spec.ts'
import type { Deps } from '../../../shared/deps.ts'
import type { Log } from '../../../shared/log.ts'
import type { LambdaHandler } from '../../../shared/runtime/injectable.ts'
import { LOCAL_REGION } from '../emulators/local-aws.ts'
import { withTimeout } from '../process/with-timeout.ts'

export type LocalFunction = {
  readonly spec: FunctionSpec
  /** The deployed name, `gateway-local-<name>`. */
  readonly name: string
  /**
   * By Lambda's rules for timeout and reserved concurrency, above which a call waits. Rejects with
   * the handler's error, or with `FunctionTimedOut`.
   */
  readonly invoke: (event: unknown, options?: InvokeOptions) => Promise<unknown>
}

type InvokeOptions = {
  /**
   * The host drops an invocation that has waited longer, as Lambda drops old asynchronous events.
   */
  readonly maxAgeMs?: number
}

class FunctionTimedOut extends Error {
  override readonly name = 'Sandbox.Timedout'
}

export type HostedHandler = {
  readonly spec: FunctionSpec
  readonly withDeps: (deps: Deps) => LambdaHandler<unknown, unknown>
}

/** `described`: what the handler says of itself, such as its summary and its schemas. */
export type LoadedHandler = HostedHandler & { readonly described: object }

type HostOptions = {
  readonly stage: string
  readonly depsFor: (spec: FunctionSpec) => Deps
  readonly log: Log
}

export function hostFunctions(handlers: readonly HostedHandler[], options: HostOptions) {
  const functions = handlers.map((handler) => hostFunction(handler, options))
  const byName = new Map(functions.map((target) => [target.name, target]))
  return { functions, byName: (name: string) => byName.get(name) }
}

export type FunctionHost = ReturnType<typeof hostFunctions>

function hostFunction(
  { spec, withDeps }: HostedHandler,
  { stage, depsFor, log }: HostOptions,
): LocalFunction {
  const name = functionName(stage, spec)
  const enter = concurrencyGate(spec.reservedConcurrency ?? runsOf(spec))
  const handler = withDeps(depsFor(spec))
  const timeoutMs = spec.timeoutSeconds * 1_000
  const invoke: LocalFunction['invoke'] = async (
    event,
    { maxAgeMs = Number.POSITIVE_INFINITY } = {},
  ) => {
    const arrivedMs = performance.now()
    const leave = await enter()
    if (performance.now() - arrivedMs > maxAgeMs) return leave()
    const requestId = randomUUID()
    const context = lambdaContext(spec, name, requestId, timeoutMs)
    // A handler cannot be stopped at its timeout, so it keeps its place until it ends.
    const run = (async () => handler(event, context))().finally(leave)
    try {
      return await withTimeout<unknown>(timeoutMs, run, () => {
        throw new FunctionTimedOut(`Task timed out after ${spec.timeoutSeconds.toFixed(2)} seconds`)
      })
    } catch (error) {
      log.error('invocation.failed', { function: name, request_id: requestId }, error)
      throw error
    }
  }
  return { spec, name, invoke }
}

/**
 * All functions share one processor here: hundreds of callbacks at once would leave none of it to
 * the deliveries. AWS runs a route about this often at once, at 100 requests a second of 160 ms.
 */
const RUNS_OF_A_ROUTE = 16

function runsOf({ trigger }: FunctionSpec) {
  return trigger.kind === 'http' ? RUNS_OF_A_ROUTE : Number.POSITIVE_INFINITY
}

/** Other callers wait in their order. Resolves with the function that frees the place. */
function concurrencyGate(limit: number) {
  const waitingCallers: (() => void)[] = []
  let inside = 0
  const leave = () => {
    const nextCaller = waitingCallers.shift()
    // No new caller can overtake the next one, which takes over the place directly.
    if (nextCaller) nextCaller()
    else inside--
  }
  return async () => {
    if (inside < limit) inside++
    else await new Promise<void>((resolve) => waitingCallers.push(resolve))
    return leave
  }
}

function lambdaContext(
  spec: FunctionSpec,
  name: string,
  awsRequestId: string,
  timeoutMs: number,
): Context {
  const deadline = performance.now() + timeoutMs
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName: name,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:${LOCAL_REGION}:000000000000:function:${name}`,
    memoryLimitInMB: String(spec.memoryMb),
    awsRequestId,
    logGroupName: `/aws/lambda/${name}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(deadline - performance.now(), 0),
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  }
}
