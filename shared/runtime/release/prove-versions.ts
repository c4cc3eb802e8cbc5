import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import { mapInChunks } from '../../chunks.ts'
import { apiKeyText, KEY_RANDOM_BYTES } from '../../client/api-key-store.ts'
import { ClientIdSchema } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { isProven, PROBE, ROUTE_PROBE } from './probe.ts'

/** `route`: for an API function, the route of the probe. */
export const AskSchema = v.object({ target: v.string(), route: v.optional(v.string()) })
export type Ask = v.InferOutput<typeof AskSchema>

export type Means = {
  readonly stage: string
  readonly lambda: Pick<LambdaClient, 'send'>
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<unknown>
}

/** A new account runs ten functions in parallel, and requests need some of these runs. */
const PARALLEL_PROBES = 5

const PAUSE_MS = 10_000

const LAST_ROUND_MS = 120_000

/** Probes failed functions again in later rounds. Answers the problems of the last round. */
export async function proveVersions(
  means: Means,
  { asks, rounds }: { readonly asks: readonly Ask[]; readonly rounds: number },
) {
  const startMs = means.nowMs()
  let unproven = asks
  for (let round = 1; ; round++) {
    const answers = await mapInChunks(unproven, PARALLEL_PROBES, async (ask) => ({
      ask,
      problem: await problemOf(means, ask),
    }))
    const failures = answers.flatMap(({ ask, problem }) =>
      problem === undefined ? [] : [{ ask, problem }],
    )
    const isLast = round >= rounds || means.nowMs() - startMs > LAST_ROUND_MS
    if (failures.length === 0 || isLast) {
      return failures.map(
        ({ ask: { target }, problem }) => `${target.split(':function:').at(-1)} ${problem}`,
      )
    }
    unproven = failures.map(({ ask }) => ask)
    await means.sleep(PAUSE_MS)
  }
}

const Unauthorized = v.object({
  statusCode: v.literal(401),
  body: v.pipe(v.string(), v.parseJson(), v.object({ code: v.literal('auth') })),
})

const StatusReply = v.object({ statusCode: v.number() })

async function problemOf({ lambda, stage }: Means, { target, route }: Ask) {
  const Payload = Buffer.from(JSON.stringify(probeEvent(stage, route)))
  try {
    const { FunctionError: failure, Payload: answer } = await lambda.send(
      new InvokeCommand({ FunctionName: target, Payload }),
    )
    const payload = ifValid(v.pipe(v.string(), v.parseJson()), Buffer.from(answer ?? []).toString())
    if (failure !== undefined) return `failed: ${describeFailure(payload)}`
    if (route === undefined)
      return isProven(payload) ? undefined : 'ran, but did not answer the probe'
    if (v.is(Unauthorized, payload)) return undefined
    const status = v.is(StatusReply, payload) ? payload.statusCode : 'nothing'
    return `answered ${status} to ${route} with an unknown key instead of 401; see its log`
  } catch (error) {
    return `could not be invoked: ${error instanceof Error ? error.name : 'unknown error'}`
  }
}

/** With a route, the probe is an API Gateway request to that route with an unknown key. */
export function probeEvent(stage: string, route: string | undefined) {
  return route === undefined
    ? PROBE
    : {
        ...ROUTE_PROBE,
        version: '2.0',
        routeKey: route,
        headers: { authorization: `Bearer ${unknownKey(stage)}` },
        requestContext: { requestId: 'release-probe' },
        isBase64Encoded: false,
      }
}

const NO_CLIENT = v.parse(ClientIdSchema, '00000000-0000-4000-8000-000000000000')

/** Never issued: each API function looks the key up and answers 401. */
export function unknownKey(stage: string) {
  return apiKeyText(stage, NO_CLIENT, Buffer.alloc(KEY_RANDOM_BYTES))
}

const Failure = v.object({
  errorType: v.optional(v.string(), 'no type'),
  errorMessage: v.optional(v.string(), ''),
})

/** Lambda's error of a failed run names modules, variables and error classes, and no secrets. */
function describeFailure(payload: unknown) {
  const failure = ifValid(Failure, payload)
  if (failure === undefined) return 'no reason was given'
  const { errorType, errorMessage } = failure
  return `${errorType}: ${errorMessage.replaceAll(/\s+/g, ' ').slice(0, 200)}`
}
