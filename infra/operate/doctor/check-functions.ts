import * as aws from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import { answersClients, functionName, queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { chunks, mapInChunks } from '../../../shared/chunks.ts'
import { unknownKey } from '../../../shared/runtime/release/prove-versions.ts'
import { reservedConcurrency } from '../../stack/functions/reserved-concurrency.ts'
import { liveName, PROVER, stackNameOf } from '../../stack/stack-name-of.ts'
import { type DeployedStage, loadOf } from '../../stack/stage.ts'
import { type Finding, ok, runCheck, wrong } from '../check/finding.ts'
import { askApi } from './ask-api.ts'

/** Calls at a time: functions must start before a check times out, and Lambda throttles management calls. */
const AT_ONCE = 5

const Envelope = v.object({ code: v.string() })
const Proof = v.pipe(v.string(), v.parseJson(), v.object({ problems: v.array(v.string()) }))

const ROUTES = [
  ...MANIFEST.flatMap((spec) =>
    answersClients(spec) && spec.trigger.kind === 'http'
      ? [{ ...spec.trigger, answers: '401 auth' }]
      : [],
  ),
  { method: 'GET', path: '/v1/gateway-doctor', answers: '404 not_found' },
]

/** Whether each route leads to a function that can read its table. It answers 401 to a key that was never issued. */
export async function checkRoutes(apiUrl: string, stage: string): Promise<readonly Finding[]> {
  const headers = { authorization: `Bearer ${unknownKey(stage)}` }
  const found = await mapInChunks(ROUTES, AT_ONCE, async ({ method, path, answers }) => {
    const answer = await askApi(`${apiUrl}${path.replace('{id}', 'gateway-doctor')}`, {
      method,
      headers,
    })
    const said =
      'lost' in answer
        ? `no answer (${answer.lost})`
        : `${answer.status} ${v.is(Envelope, answer.body) ? answer.body.code : 'without our envelope'}`
    const todo = 'read the log of its function'
    return said === answers
      ? []
      : [wrong(`route ${method} ${path}`, `${said}, not ${answers}`, todo)]
  })
  return orOk(found.flat(), 'routes', `functions answer all ${ROUTES.length}`)
}

function orOk(findings: readonly Finding[], what: string, detail: string): readonly Finding[] {
  return findings.length > 0 ? findings : [ok(what, detail)]
}

/** The prover waits up to 23 s for a function that does not answer. Both may have to start first. */
const PROOF_MS = 40_000

/** Whether operators' functions work. The prover asks, because no person may invoke all of them (design section 11). */
export async function checkOperatorFunctions(
  lambda: aws.LambdaClient,
  stage: DeployedStage,
): Promise<readonly Finding[]> {
  const FunctionName = stackNameOf(stage, PROVER)
  const operated = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator')
  const names = operated.map((spec) => functionName(stage.settings.name, spec))
  const found = await mapInChunks(chunks(names, AT_ONCE), 1, async (some) => {
    const Payload = Buffer.from(JSON.stringify({ asks: some.map((target) => ({ target })) }))
    const answer = await lambda.send(new aws.InvokeCommand({ FunctionName, Payload }), {
      requestTimeout: PROOF_MS,
    })
    if (answer.FunctionError !== undefined)
      return [`${FunctionName} failed; it calls all other operator functions`]
    return v.parse(Proof, Buffer.from(answer.Payload ?? []).toString()).problems
  })
  const todo = 'read its log; roll the release back'
  const problems = found.flat().map((problem) => wrong('operator function', problem, todo))
  return orOk(problems, 'operator functions', `all ${names.length} work`)
}

/**
 * The reserved concurrency of functions. After a restore one may be left at zero, and then nothing starts it. If the stage
 * reserves nothing, CloudFormation has nothing to compare.
 */
export async function checkConcurrency(
  lambda: aws.LambdaClient,
  stage: DeployedStage,
): Promise<readonly Finding[]> {
  const functions = MANIFEST.map((spec) => ({
    FunctionName: functionName(stage.settings.name, spec),
    expected: reservedConcurrency(spec, stage).reservedConcurrentExecutions,
  }))
  const all = [...functions, { FunctionName: stackNameOf(stage, PROVER), expected: undefined }]
  const found = await mapInChunks(all, AT_ONCE, ({ FunctionName, expected = 'none' }) => {
    const what = `function ${FunctionName}`
    return runCheck(what, async () => {
      const answer = await lambda.send(new aws.GetFunctionConcurrencyCommand({ FunctionName }))
      const { ReservedConcurrentExecutions: actual = 'none' } = answer
      if (actual === expected) return []
      const detail = `reserved concurrency is ${actual}, should be ${expected}`
      return wrong(what, detail, 'docs/operations.md, section 7, step 8')
    })
  })
  return orOk(found.flat(), 'functions', 'all have the reserved concurrency of the stage')
}

const REMEDY = 'restore the setting in infra/stack/triggers/event-sources.ts'

/** Whether workers read the queues, with the right settings. CloudFormation compares no event sources. */
export async function checkEventSources(
  lambda: aws.LambdaClient,
  stage: DeployedStage,
): Promise<readonly Finding[]> {
  const readers = MANIFEST.flatMap((spec) => {
    const sources = queuesOf(spec.trigger, loadOf(stage)).map((source) => ({
      ...source,
      name: stackNameOf(stage, source.queue),
    }))
    return sources.map(async ({ name, batchSize, maxConcurrency }, at) => {
      const what = `event source ${name}`
      return runCheck(what, async () => {
        const command = new aws.ListEventSourceMappingsCommand({
          FunctionName: liveName(spec, stage),
        })
        const { EventSourceMappings: all = [] } = await lambda.send(command)
        // A mapping from another queue is compared with the first one.
        const isStray = (source: string | undefined) =>
          at === 0 && !sources.some((own) => own.name === source)
        const found = all.filter((one) => queueNameOf(one) === name || isStray(queueNameOf(one)))
        if (found.length === 0) return wrong(what, 'is missing', REMEDY)
        return found.map((one) =>
          comparison(what, [
            ['source', name, queueNameOf(one)],
            ['state', 'Enabled', one.State],
            ['batch size', batchSize, one.BatchSize],
            ['maximum concurrency', maxConcurrency, one.ScalingConfig?.MaximumConcurrency],
            [
              'partial batches',
              'ReportBatchItemFailures',
              one.FunctionResponseTypes?.join() || undefined,
            ],
          ]),
        )
      })
    })
  })
  return (await Promise.all(readers)).flat()
}

function queueNameOf({ EventSourceArn }: aws.EventSourceMappingConfiguration) {
  return EventSourceArn?.split(':').at(-1)
}

type Setting = string | number | undefined

function comparison(
  what: string,
  settings: readonly (readonly [string, expected: Setting, actual: Setting])[],
) {
  const different = settings
    .filter(([, expected, actual]) => actual !== expected)
    .map(
      ([setting, expected = 'not set', actual = 'not set']) =>
        `${setting} is ${actual}, should be ${expected}`,
    )
  return different.length === 0
    ? ok(what, 'enabled, as deployed')
    : wrong(what, different.join('; '), REMEDY)
}
