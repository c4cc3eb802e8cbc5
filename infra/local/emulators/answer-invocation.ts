import { mayInvoke, ROLES } from '../../../functions/function-spec.ts'
import type { FunctionHost, LocalFunction } from '../functions/function-host.ts'
import {
  jsonReply,
  type LocalReply,
  type LocalRequest,
  parsedJson,
} from '../process/local-http-server.ts'
import { routeTable } from '../process/route-table.ts'
import { DUTY_HEADER } from './local-aws.ts'

const findInvocation = routeTable({ 'POST /2015-03-31/functions/{name}/invocations': undefined })
/** A name, `name:qualifier`, a partial or a full ARN. */
const FUNCTION_NAME =
  /^(?:(?:arn:aws[\w-]*:lambda:[\w-]+:)?\d{12}:function:)?([\w-]+)(?::([\w$-]+))?$/

export const MAX_INVOKE_BYTES = 6 * 1024 * 1024

/**
 * Lambda's Invoke operation, as the AWS CLI and SDKs call it. Undefined for another request. An
 * asynchronous invocation is not retried.
 */
export async function answerInvocation(
  host: Pick<FunctionHost, 'byName'>,
  request: LocalRequest,
): Promise<LocalReply | undefined> {
  const { name: fullName } = findInvocation(request.method, request.path)?.pathParameters ?? {}
  if (fullName === undefined) return undefined
  const [, name = '', qualifier = request.query.get('Qualifier') ?? '$LATEST'] =
    FUNCTION_NAME.exec(fullName) ?? []
  const target = qualifier === '$LATEST' ? host.byName(name) : undefined
  if (!target) return refusal(404, 'ResourceNotFoundException', `Function not found: ${fullName}`)

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
    case 'DryRun':
      return { status: 204, body: '' }
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

async function call(target: LocalFunction, payload: unknown): Promise<LocalReply> {
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
