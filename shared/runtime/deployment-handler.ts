import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { type InjectableHandler, injectable } from './injectable.ts'

/** What CloudFormation sends to a resource that is a function. The URL is signed: whoever has it can answer. */
const RequestSchema = v.object({
  RequestType: v.picklist(['Create', 'Update', 'Delete']),
  ResponseURL: v.pipe(v.string(), v.url()),
  StackId: v.string(),
  RequestId: v.string(),
  LogicalResourceId: v.string(),
  PhysicalResourceId: v.optional(v.string()),
})
type DeploymentRequest = v.InferOutput<typeof RequestSchema>

const ANSWER_TIMEOUT_MS = 10_000

/**
 * Wraps a step of a deployment, which is a resource of the stack: it runs when the resource is created, and the functions
 * that depend on it change when it has succeeded. When it fails, the deployment fails before them, with the reason in
 * words where there are any. Taking the resource away takes nothing back.
 */
export const deploymentHandler = (run: (deps: Deps) => Promise<object>): InjectableHandler<unknown, object> =>
  injectable((deps) => async (event, { functionName }) => {
    const parsed = v.safeParse(RequestSchema, event)
    // Without its cause, which would quote the URL.
    if (!parsed.success) throw new Error('this is no request of CloudFormation')
    const request = parsed.output
    const outcome = request.RequestType === 'Create' ? await run(deps).catch(asError) : {}
    if (!(outcome instanceof Error)) {
      await answer(request, functionName, { Status: 'SUCCESS' })
      return outcome
    }
    deps.log.error('invocation.failed', { function: functionName }, outcome)
    const Reason = outcome instanceof GatewayError ? outcome.message : `it broke off: see the log of ${functionName}`
    await answer(request, functionName, { Status: 'FAILED', Reason })
    return { outcome: 'failed' }
  })

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error('something else was thrown'))

/** Throws when CloudFormation cannot be answered; Lambda then runs the step again. */
const answer = async (
  { ResponseURL, StackId, RequestId, LogicalResourceId, PhysicalResourceId }: DeploymentRequest,
  functionName: string,
  result: { readonly Status: 'SUCCESS' } | { readonly Status: 'FAILED'; readonly Reason: string },
): Promise<void> => {
  const said = {
    ...result,
    PhysicalResourceId: PhysicalResourceId ?? functionName,
    StackId,
    RequestId,
    LogicalResourceId,
  }
  const response = await fetch(ResponseURL, {
    method: 'PUT',
    // The URL is signed for a body of no type.
    headers: { 'content-type': '' },
    body: Buffer.from(JSON.stringify(said)),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  }).catch(() => undefined)
  if (response?.ok !== true) throw new Error('CloudFormation could not be answered')
}
