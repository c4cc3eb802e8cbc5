import { setTimeout as sleep } from 'node:timers/promises'
import { LambdaClient } from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import { ENV } from './config.ts'
import { AskSchema, type Means, proveVersions } from './release/prove-versions.ts'

const ProofSchema = v.object({ asks: v.array(AskSchema) })

const RequestSchema = v.object({
  RequestType: v.picklist(['Create', 'Update', 'Delete']),
  ResponseURL: v.pipe(v.string(), v.url()),
  StackId: v.string(),
  RequestId: v.string(),
  LogicalResourceId: v.string(),
  ResourceProperties: v.unknown(),
})
type Request = v.InferOutput<typeof RequestSchema>

/** IAM needs some seconds until a changed role takes effect. */
const ROLES_ACT_MS = 10_000
const ROUNDS = 6

/** CloudFormation accepts an answer of 4 KB at most. */
const MAX_REASON = 1_500

const ANSWER_TRIES = 3
const ANSWER_MS = 10_000

/** CloudFormation waits for the answer and rolls back after a failure. Safe to repeat. */
export function proveRelease(means: Means) {
  return async (event: unknown): Promise<{ readonly problems: readonly string[] }> => {
    const request = v.safeParse(RequestSchema, event)
    if (!request.success) {
      const { asks } = v.parse(ProofSchema, event)
      // Never a route: the doctor asks about operators' functions, and a scheduled function would
      // run on any other event.
      return {
        problems: await proveVersions(means, {
          asks: asks.map(({ target }) => ({ target })),
          rounds: 1,
        }),
      }
    }
    const problems = await problemsOf(means, request.output)
    await answerCloudFormation(means, request.output, problems)
    return { problems }
  }
}

/**
 * Each release makes its own resource and deletes that of the last release. A rollback only
 * deletes, so it cannot fail.
 */
async function problemsOf(means: Means, { RequestType, ResourceProperties }: Request) {
  if (RequestType !== 'Create') return []
  const proof = v.safeParse(ProofSchema, ResourceProperties)
  if (!proof.success) return ['the release names no functions to probe']
  await means.sleep(ROLES_ACT_MS)
  return proveVersions(means, { ...proof.output, rounds: ROUNDS })
}

async function answerCloudFormation(means: Means, request: Request, problems: readonly string[]) {
  const { StackId, RequestId, LogicalResourceId, ResponseURL } = request
  const body = Buffer.from(
    JSON.stringify({
      Status: problems.length === 0 ? 'SUCCESS' : 'FAILED',
      Reason: problems.join('; ').slice(0, MAX_REASON),
      PhysicalResourceId: LogicalResourceId,
      StackId,
      RequestId,
      LogicalResourceId,
    }),
  )
  for (let attempt = 1; attempt <= ANSWER_TRIES; attempt++) {
    // The URL is signed for an empty content type.
    const put = {
      method: 'PUT',
      body,
      headers: { 'content-type': '' },
      signal: AbortSignal.timeout(ANSWER_MS),
    }
    const { ok } = await fetch(ResponseURL, put).catch(() => ({ ok: false }))
    if (ok) return
    await means.sleep(attempt * 1_000)
  }
  throw new Error('CloudFormation did not accept the answer')
}

/** The rounds repeat the calls. A cold start takes ten seconds at most. */
const LIMITS = { connectionTimeout: 3_000, requestTimeout: 20_000, throwOnRequestTimeout: true }

export const handler = proveRelease({
  stage: process.env[ENV.stage] ?? '',
  lambda: new LambdaClient({ maxAttempts: 1, requestHandler: LIMITS }),
  nowMs: () => performance.now(),
  sleep,
})
