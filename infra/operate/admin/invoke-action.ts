import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import * as v from 'valibot'
import { functionName } from '../../../functions/function-spec.ts'
import { parseOwnJson } from '../../../shared/json.ts'
import { DUTY_HEADER } from '../../local/emulators/local-aws.ts'
import { addressAt } from '../../local/terminal/command-line.ts'
import { requireRegion } from '../check/region-of.ts'
import { type ActionCall, LOCAL_STAGE } from './action-command.ts'
import { stageFiles } from './completion.ts'
import type { ListedAction } from './listed-actions.ts'

/** The function failed, or could not be called. */
export class InvocationFailed extends Error {
  override readonly name = 'InvocationFailed'
}

/** Scheduled work answers its summary without this envelope. */
export const ReplySchema = v.strictObject({ status: v.number(), body: v.unknown() })
export type Reply = v.InferOutput<typeof ReplySchema>

const MARGIN_MS = 10_000

/**
 * Invokes an action's function once and answers its result, with the digits of its numbers. After a
 * lost answer the operator decides whether to repeat the action. Throws `InvocationFailed` with a
 * message for the operator.
 */
export async function invokeAction(
  spec: ListedAction,
  { stage, payload }: ActionCall,
  env: NodeJS.ProcessEnv,
) {
  const name = functionName(stage, spec)
  const url = stage === LOCAL_STAGE ? localUrl(env) : undefined
  const region = url === undefined ? await requireRegion(env) : undefined
  const call = {
    name,
    payload: JSON.stringify(payload),
    timeoutMs: spec.timeoutSeconds * 1_000 + MARGIN_MS,
  }
  try {
    const answer = await (url
      ? invokeLocally(call, url, env['GATEWAY_DUTY'])
      : invokeOnAws(call, region))
    if (answer.failed) throw new InvocationFailed(`${name} failed: ${answer.text}`)
    return answer.text === '' ? null : parseOwnJson(answer.text)
  } catch (error) {
    if (error instanceof InvocationFailed) throw error
    throw new InvocationFailed(failureMessage(error, spec, name, { url, region }), { cause: error })
  }
}

/** As `invokeAction`, but answers the failure. */
export function tryAction(...call: Parameters<typeof invokeAction>) {
  return invokeAction(...call).catch(failureOf)
}

export function failureOf(error: unknown) {
  if (error instanceof InvocationFailed) return error
  throw error
}

/** The local gateway's Invoke API is on the port after PORT (design section 6). */
export function localUrl(env: NodeJS.ProcessEnv) {
  return addressAt(env['PORT'], 1)
}

type Call = { readonly name: string; readonly payload: string; readonly timeoutMs: number }
type Answer = { readonly failed: boolean; readonly text: string }

async function invokeOnAws({ name, payload, timeoutMs }: Call, region = ''): Promise<Answer> {
  const { InvokeCommand, LambdaClient } = await import('@aws-sdk/client-lambda')
  const requestHandler = {
    connectionTimeout: 5_000,
    requestTimeout: timeoutMs,
    throwOnRequestTimeout: true,
  }
  const client = new LambdaClient({ region, maxAttempts: 1, requestHandler })
  try {
    const command = new InvokeCommand({ FunctionName: name, Payload: Buffer.from(payload) })
    const { FunctionError: failure, Payload: result = [] } = await client.send(command)
    return { failed: failure !== undefined, text: Buffer.from(result).toString() }
  } finally {
    client.destroy()
  }
}

/** The SDK and fetch take longer to load than all else of a call to this machine. */
async function invokeLocally(
  { name, payload, timeoutMs }: Call,
  url: string,
  duty: string | undefined,
): Promise<Answer> {
  // An import of node:http would also load undici.
  const { request } = process.getBuiltinModule('node:http')
  const sent = request(`${url}/2015-03-31/functions/${name}/invocations`, {
    method: 'POST',
    // AWS reads the caller's duty from the credentials.
    headers: duty ? { [DUTY_HEADER]: duty } : {},
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
  })
  const [reply]: IncomingMessage[] = await once(sent.end(payload), 'response')
  if (!reply) throw new Error('no answer')
  const text = await readText(reply)
  if (reply.statusCode === 200) return { failed: 'x-amz-function-error' in reply.headers, text }
  const kind = reply.headers['x-amzn-errortype'] ?? `HTTP ${reply.statusCode}`
  throw Object.assign(new Error(text), { name: String(kind) })
}

function failureMessage(
  error: unknown,
  { duty }: ListedAction,
  name: string,
  { url, region }: { readonly url: string | undefined; readonly region: string | undefined },
) {
  const { name: kind, message } =
    error instanceof Error ? error : { name: 'Error', message: String(error) }
  if (url && message.includes('ECONNREFUSED'))
    return `nothing listens at ${url}; start the gateway: npm start`
  if (kind === 'AccessDeniedException') {
    return `you may not invoke ${name}: it needs the duty ${duty} (docs/operations.md, "Who may do what")`
  }
  // A schedule has one run, which its own timer may have started.
  if (kind === 'TooManyRequestsException')
    return `all runs of ${name} are in use; repeat the command in a moment`
  const host = url ?? `lambda.${region}.amazonaws.com`
  // Refused, or without credentials, nothing ran.
  const isDone =
    Object(error).$fault === 'client' || kind.endsWith('ProviderError') ? 'is not' : 'may be'
  if (kind !== 'ResourceNotFoundException')
    return `no answer of ${name} at ${host}; it ${isDone} done: ${kind}: ${message}`
  return url === undefined
    ? `there is no function ${name} in ${region} of this account; stages with a file: ${stageFiles().join(', ')}`
    : `there is no function ${name}`
}
