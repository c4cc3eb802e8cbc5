import * as v from 'valibot'
import { mayInvoke, ROLES } from '../../../functions/function-spec.ts'
import { DAY_MS, SECOND_MS, timestampOf } from '../../../shared/time.ts'
import type { AlertInbox } from '../emulators/alert-inbox.ts'
import { DUTY_HEADER } from '../emulators/local-aws.ts'
import type { FunctionHost, LocalFunction } from '../functions/function-host.ts'
import type { LocalLog } from '../functions/local-log.ts'
import type { LocalClock } from '../process/local-clock.ts'
import {
  jsonReply,
  type LocalPort,
  type LocalReply,
  type LocalRequest,
  parsedJson,
  startLocalHttpServer,
} from '../process/local-http-server.ts'
import { routeTable } from '../process/route-table.ts'
import { withTimeout } from '../process/with-timeout.ts'

type Control = {
  readonly clock: LocalClock
  readonly log: LocalLog
  readonly alerts: AlertInbox['alerts']
  /** No attempt begins before the end of the jump. */
  readonly attemptsEnded: (jumpEnd: Promise<void>) => Promise<void>
}

type LambdaServerOptions = Pick<Control, 'clock' | 'log'> &
  LocalPort & {
    /** The provider's test mode has no clock of ours, so ours cannot jump. */
    readonly hasRealTime?: boolean
    readonly ready: Promise<
      Omit<Control, 'clock' | 'log'> & { readonly host: Pick<FunctionHost, 'byName'> }
    >
  }

const CLOCK = '/_local/clock'
const NO_JUMPS = jsonReply(409, {
  message: "the clock cannot jump: the provider's test mode runs in real time",
})

/**
 * PORT+1: Lambda's Invoke API, and the local controls. The server listens at once; requests wait
 * until the gateway is ready.
 */
export function startLambdaServer({
  port,
  family,
  clock,
  log,
  ready,
  hasRealTime = false,
}: LambdaServerOptions) {
  return startLocalHttpServer({
    port,
    family,
    maxBodyBytes: MAX_INVOKE_BYTES,
    answer: async (request) => {
      if (hasRealTime && request.method === 'POST' && request.path === CLOCK) return NO_JUMPS
      const { host, alerts, attemptsEnded } = await ready
      return (
        (await answerControl({ clock, alerts, attemptsEnded, log }, request)) ??
        (await answerInvocation(host, request)) ??
        jsonReply(404, { message: `no ${request.method} ${request.path} here` })
      )
    },
  })
}

/** Controls of clock, alerts and log. Undefined for any other request. */
export function answerControl(parts: Control, request: LocalRequest) {
  switch (`${request.method} ${request.path}`) {
    case `GET ${CLOCK}`:
      return clockReply(parts.clock)
    case `POST ${CLOCK}`:
      return jumpClock(parts, request.body)
    case 'GET /_local/alerts':
      return jsonReply(200, parts.alerts())
    case 'GET /_local/log':
      return {
        status: 200,
        headers: { 'content-type': 'application/x-ndjson' },
        body: parts.log.lines().join('\n'),
      }
    default:
      return undefined
  }
}

function clockReply(clock: LocalClock) {
  return jsonReply(200, { now: timestampOf(clock.nowMs()) })
}

const MAX_JUMP_SECONDS = (3_660 * DAY_MS) / SECOND_MS

const Jump = v.strictObject({
  advance_seconds: v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(MAX_JUMP_SECONDS)),
})

/** An attempt takes at most ten seconds, and its claim must not expire by a jump meanwhile. */
const ATTEMPTS_END_WITHIN_MS = 11_000

/**
 * Jumps after the running callbacks and attempts have ended, and answers after the schedules of
 * the skipped time were started. The clock stores the new offset first, so an answered jump
 * survives a crash.
 */
async function jumpClock({ clock, attemptsEnded }: Control, body: Buffer): Promise<LocalReply> {
  const order = v.safeParse(Jump, parsedJson(body))
  if (!order.success) {
    return jsonReply(400, {
      message: `send only advance_seconds, a number from 0 to ${MAX_JUMP_SECONDS}`,
    })
  }
  const { promise: jumpEnd, resolve: endJump } = Promise.withResolvers<void>()
  try {
    await withTimeout(ATTEMPTS_END_WITHIN_MS, attemptsEnded(jumpEnd), () => undefined)
    clock.advance(order.output.advance_seconds)
  } finally {
    endJump()
  }
  return clockReply(clock)
}

const findInvocation = routeTable({ 'POST /2015-03-31/functions/{name}/invocations': undefined })

const MAX_INVOKE_BYTES = 6 * 1024 * 1024

/**
 * Lambda's Invoke operation, as the AWS CLI and SDKs call it. Undefined for another request. An
 * asynchronous invocation is not retried.
 */
export async function answerInvocation(
  host: Pick<FunctionHost, 'byName'>,
  request: LocalRequest,
): Promise<LocalReply | undefined> {
  const { name } = findInvocation(request.method, request.path)?.pathParameters ?? {}
  if (name === undefined) return undefined
  const target = host.byName(name)
  if (!target) return refusal(404, 'ResourceNotFoundException', `Function not found: ${name}`)

  const denial = denialOf(request.headers[DUTY_HEADER], target)
  if (denial) return denial

  const payload = request.body.length === 0 ? {} : parsedJson(request.body)
  if (payload === undefined) {
    return refusal(400, 'InvalidRequestContentException', 'Could not parse request body into json')
  }
  switch (request.headers['x-amz-invocation-type'] ?? 'RequestResponse') {
    case 'RequestResponse':
      return call(target, payload)
    case 'Event':
      target.invoke(payload).catch(() => undefined)
      return { status: 202, body: '' }
    default:
      return refusal(400, 'InvalidParameterValueException', 'Unknown invocation type')
  }
}

function refusal(status: number, type: string, message: string): LocalReply {
  return jsonReply(
    status,
    { Type: 'User', message, Message: message },
    { 'x-amzn-errortype': type },
  )
}

/** IAM's answer to a caller who may not invoke the function; else undefined. */
function denialOf(
  duty: string | string[] | undefined,
  { name, spec }: LocalFunction,
): LocalReply | undefined {
  if (duty === undefined) return undefined
  const role = ROLES.find((candidate) => candidate === duty)
  if (!role)
    return refusal(
      400,
      'InvalidParameterValueException',
      `${DUTY_HEADER} is one of ${ROLES.join(', ')}`,
    )
  if (mayInvoke(role, spec)) return undefined
  const message = `${role} is not authorized to perform: lambda:InvokeFunction on resource: ${name}`
  return refusal(403, 'AccessDeniedException', message)
}

async function call(target: LocalFunction, payload: unknown) {
  const headers = { 'x-amz-executed-version': '$LATEST' }
  try {
    return jsonReply(200, (await target.invoke(payload)) ?? null, headers)
  } catch (error) {
    const { name, message } =
      error instanceof Error ? error : { name: 'Error', message: String(error) }
    // As on AWS, the call succeeds and the header reports the function's error.
    return jsonReply(
      200,
      { errorType: name, errorMessage: message },
      { ...headers, 'x-amz-function-error': 'Unhandled' },
    )
  }
}
