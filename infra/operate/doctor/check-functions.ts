import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import { answersClients, functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { chunks, mapInChunks } from '../../../shared/chunks.ts'
import { unknownKey } from '../../../shared/runtime/release/prove-versions.ts'
import { PROVER, stackNameOf } from '../../stack/stack-name-of.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { errorName } from '../check/run-check.ts'

/** So many are asked at a time: they start within the time that a check has. */
const AT_ONCE = 5
const TIMEOUT_MS = 10_000

const Envelope = v.object({ code: v.string() })
const Proof = v.pipe(v.string(), v.parseJson(), v.object({ problems: v.array(v.string()) }))

const ROUTES = [
  ...MANIFEST.flatMap((spec) =>
    answersClients(spec) && spec.trigger.kind === 'http' ? [{ ...spec.trigger, answers: '401 auth' }] : [],
  ),
  { method: 'GET', path: '/v1/gateway-doctor', answers: '404 not_found' },
]

/** Whether each route leads to a function that can read its table: a well-formed key that was never issued is answered 401. */
export const checkRoutes = async (apiUrl: string, stage: string): Promise<readonly Finding[]> => {
  const headers = { authorization: `Bearer ${unknownKey(stage)}` }
  const found = await mapInChunks(ROUTES, AT_ONCE, async ({ method, path, answers }) => {
    const said = await answerOf(`${apiUrl}${path.replace('{id}', 'gateway-doctor')}`, { method, headers })
    const todo = 'look into the log of its function'
    return said === answers ? [] : [wrong(`route ${method} ${path}`, `${said}, not ${answers}`, todo)]
  })
  return found.flat().length > 0
    ? found.flat()
    : [ok('routes', `all ${ROUTES.length} are answered by functions that work`)]
}

const answerOf = async (url: string, request: RequestInit): Promise<string> => {
  try {
    const response = await fetch(url, { ...request, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
    const body: unknown = await response.json().catch(() => undefined)
    return `${response.status} ${v.is(Envelope, body) ? body.code : 'without our envelope'}`
  } catch (error) {
    return `no answer (${errorName((error instanceof Error && error.cause) || error)})`
  }
}

/** Whether operators' functions can work. The prover asks them: no person may invoke all of them (design section 11). */
export const checkOperatorFunctions = async (
  lambda: LambdaClient,
  stage: DeployedStage,
): Promise<readonly Finding[]> => {
  const FunctionName = stackNameOf(stage, PROVER)
  const operated = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator')
  const names = operated.map((spec) => functionName(stage.settings.name, spec))
  const found = await mapInChunks(chunks(names, AT_ONCE), 1, async (some) => {
    const Payload = Buffer.from(JSON.stringify({ Asks: some.map((Target) => ({ Target })) }))
    const answer = await lambda.send(new InvokeCommand({ FunctionName, Payload }))
    if (answer.FunctionError !== undefined) return [`${FunctionName} failed, which asks all others`]
    return v.parse(Proof, Buffer.from(answer.Payload ?? []).toString()).problems
  })
  const todo = 'look into its log; roll the release back'
  const problems = found.flat().map((problem) => wrong('operator function', problem, todo))
  return problems.length > 0 ? problems : [ok('operator functions', `all ${names.length} can work`)]
}
