import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { type FunctionSpec, functionName } from '../../../functions/function-spec.ts'
import { parseOwnJson } from '../../../shared/json.ts'
import { DUTY_HEADER } from '../../local/emulators/answer-invocation.ts'
import { localAws } from '../../local/emulators/dynamodb-local.ts'
import { UsageError, wholeNumber } from '../../local/terminal/command-line.ts'
import { PROJECT_ROOT } from '../../stack/project-root.ts'
import { requireRegion } from '../check/stage-named.ts'
import { type ActionCall, LOCAL_STAGE } from './action-command.ts'

/** The function failed, or could not be called. */
export class InvocationFailed extends Error {
  override readonly name = 'InvocationFailed'
}

/** Time beyond the function's own timeout. */
const MARGIN_MS = 10_000

/**
 * Invokes an action's function once and answers its result, with the digits of its numbers. After a
 * lost answer the operator decides whether to repeat the action. Throws `InvocationFailed` with a
 * message for the operator.
 */
export async function invokeAction(
  spec: FunctionSpec,
  { stage, payload }: ActionCall,
  env: NodeJS.ProcessEnv,
): Promise<unknown> {
  const target = await targetOf(stage, env)
  const name = functionName(stage, spec)
  const requestTimeout = spec.timeoutSeconds * 1_000 + MARGIN_MS
  const requestHandler = { connectionTimeout: 5_000, requestTimeout, throwOnRequestTimeout: true }
  const client = new LambdaClient({ ...target, maxAttempts: 1, requestHandler })
  try {
    const command = new InvokeCommand({
      FunctionName: name,
      Payload: Buffer.from(JSON.stringify(payload)),
    })
    const duty = env['GATEWAY_DUTY']
    if (target.endpoint !== undefined && duty) addHeader(client, DUTY_HEADER, duty)
    const { FunctionError: failure, Payload: result } = await client.send(command)
    const text = Buffer.from(result ?? []).toString()
    if (failure !== undefined) throw new InvocationFailed(`${name} failed: ${text}`)
    return text === '' ? null : parseOwnJson(text)
  } catch (error) {
    if (error instanceof InvocationFailed) throw error
    throw new InvocationFailed(failureMessage(error, spec, name, target), { cause: error })
  } finally {
    client.destroy()
  }
}

/**
 * The local gateway's Invoke API is on the port after PORT (design section 6). A stage is on AWS.
 */
async function targetOf(
  stage: string,
  env: NodeJS.ProcessEnv,
): Promise<Partial<ReturnType<typeof localAws>>> {
  if (stage !== LOCAL_STAGE) return { region: await requireRegion(env) }
  const port = wholeNumber(env['PORT'] || '3000') ?? 0
  if (port < 1 || port > 65_534) throw new UsageError('PORT must be a number from 1 to 65534')
  return localAws(`http://127.0.0.1:${port + 1}`)
}

/** The local gateway reads the caller's duty from a header; AWS reads it from the credentials. */
function addHeader({ middlewareStack }: LambdaClient, name: string, value: string): void {
  middlewareStack.add(
    (next) => (call) => {
      Object.assign(Object(Object(call.request).headers), { [name]: value })
      return next(call)
    },
    { step: 'build' },
  )
}

function failureMessage(
  error: unknown,
  { trigger }: FunctionSpec,
  name: string,
  { endpoint, region }: Partial<ReturnType<typeof localAws>>,
): string {
  const { name: kind, message } =
    error instanceof Error ? error : { name: 'Error', message: String(error) }
  if (message.includes('ECONNREFUSED'))
    return `nothing listens at ${endpoint ?? 'AWS'}; start the gateway: npm start`
  if (kind === 'AccessDeniedException') {
    const duty = trigger.kind === 'operator' ? trigger.duty : 'deploy'
    return `you may not invoke ${name}: it needs the duty ${duty} (docs/operations.md, "Who may do what")`
  }
  // A schedule has one run, which its own timer may have started.
  if (kind === 'TooManyRequestsException')
    return `all runs of ${name} are in use; repeat the command in a moment`
  const host = endpoint ?? `lambda.${region}.amazonaws.com`
  if (kind !== 'ResourceNotFoundException')
    return `${name} could not be invoked at ${host}: ${kind}: ${message}`
  return endpoint === undefined
    ? `there is no function ${name} in ${region} of this account; stages with a file: ${stageFiles()}`
    : `there is no function ${name}`
}

/** A stage without a file exists too: a developer's own. */
function stageFiles(): string {
  return readdirSync(join(PROJECT_ROOT, 'infra/stages'))
    .map((file) => file.replace(/\.json$/, ''))
    .join(', ')
}
