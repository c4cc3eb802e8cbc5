import { InvokeCommand, LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda'
import { parseOwnJson } from '../../../shared/json.ts'
import { localAws } from '../../local/emulators/dynamodb-local.ts'

export type Invocation = {
  readonly functionName: string
  readonly payload: unknown
  /** Of the function; the call waits a little longer. */
  readonly timeoutSeconds: number
  /** The local gateway's Invoke API; undefined is AWS, with the caller's credentials. */
  readonly endpoint: string | undefined
  /** Of AWS. */
  readonly region: string | undefined
}

/** The function was found and failed, or could not be called at all. */
export class InvocationFailed extends Error {
  override readonly name = 'InvocationFailed'
}

const MARGIN_MS = 10_000

/**
 * Invokes a function and answers its result, for `JSON.stringify` to write as it came: metadata is neither reordered nor
 * rounded. Once: an answer that was lost is no reason to do it again unasked. Throws `InvocationFailed` in words an
 * operator can use.
 */
export const invokeFunction = async (invocation: Invocation): Promise<unknown> => {
  const client = new LambdaClient(configOf(invocation))
  try {
    const command = new InvokeCommand({
      FunctionName: invocation.functionName,
      Payload: Buffer.from(JSON.stringify(invocation.payload)),
    })
    const { FunctionError: failure, Payload: result } = await client.send(command)
    const text = Buffer.from(result ?? []).toString('utf8')
    if (failure !== undefined) throw new InvocationFailed(`${invocation.functionName} failed: ${text}`)
    return text === '' ? null : parseOwnJson(text)
  } catch (error) {
    if (error instanceof InvocationFailed) throw error
    throw new InvocationFailed(explained(error, invocation), { cause: error })
  } finally {
    client.destroy()
  }
}

const configOf = ({ endpoint, region, timeoutSeconds }: Invocation): LambdaClientConfig => ({
  ...(endpoint === undefined ? { ...(region !== undefined && { region }) } : localAws(endpoint)),
  maxAttempts: 1,
  requestHandler: {
    connectionTimeout: 5_000,
    requestTimeout: timeoutSeconds * 1_000 + MARGIN_MS,
    throwOnRequestTimeout: true,
  },
})

const explained = (error: unknown, { functionName, endpoint }: Invocation): string => {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
  if (name === 'ResourceNotFoundException') {
    return `there is no function ${functionName}${endpoint === undefined ? ' in this account and region' : ''}`
  }
  if (message.includes('ECONNREFUSED')) return `nothing listens at ${endpoint ?? 'AWS'}; start the gateway: npm start`
  return `${functionName} could not be invoked: ${name}: ${message}`
}
