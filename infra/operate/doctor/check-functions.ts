import * as aws from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import { answersClients, functionName, queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { chunks, mapInChunks } from '../../../shared/chunks.ts'
import { unknownKey } from '../../../shared/runtime/release/prove-versions.ts'
import { reservedConcurrency } from '../../stack/settings/reserved-concurrency.ts'
import {
  type DeployedStage,
  liveName,
  loadOf,
  PROVER,
  stackNameOf,
  unpublished,
} from '../../stack/stage.ts'
import { findingsOrOk, ok, runCheck, wrong } from '../check/finding.ts'
import { askApi } from './ask-api.ts'

/** More calls at once would make Lambda throttle; fewer would make a check time out. */
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

/** A function that can read its table answers 401 to a key that was never issued. */
export async function checkRoutes(apiUrl: string, stage: string) {
  const headers = { authorization: `Bearer ${unknownKey(stage)}` }
  const findings = await mapInChunks(ROUTES, AT_ONCE, async ({ method, path, answers }) => {
    const answer = await askApi(`${apiUrl}${path.replace('{id}', 'gateway-doctor')}`, {
      method,
      headers,
    })
    const outcome =
      'lost' in answer
        ? `no answer (${answer.lost})`
        : `${answer.status} ${v.is(Envelope, answer.body) ? answer.body.code : 'without our envelope'}`
    const todo = 'read the log of its function'
    return outcome === answers
      ? []
      : [wrong(`route ${method} ${path}`, `${outcome}, not ${answers}`, todo)]
  })
  return findingsOrOk(findings.flat(), 'routes', `functions answer all ${ROUTES.length}`)
}

/** The prover waits up to 23 s for a function that does not answer, and both may have to start. */
const PROOF_MS = 40_000

/** The prover asks, because no person may invoke all operators' functions (design section 11). */
export async function checkOperatorFunctions(lambda: aws.LambdaClient, stage: DeployedStage) {
  const FunctionName = stackNameOf(stage, PROVER)
  const operated = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator')
  const names = operated.map((spec) => unpublished(functionName(stage.settings.name, spec)))
  const answers = await mapInChunks(chunks(names, AT_ONCE), 1, async (targets) => {
    const Payload = Buffer.from(JSON.stringify({ asks: targets.map((target) => ({ target })) }))
    const answer = await lambda.send(new aws.InvokeCommand({ FunctionName, Payload }), {
      requestTimeout: PROOF_MS,
    })
    if (answer.FunctionError !== undefined)
      return [`${FunctionName} failed; it calls all other operator functions`]
    return v.parse(Proof, Buffer.from(answer.Payload ?? []).toString()).problems
  })
  const todo = 'read its log; roll the release back'
  const problems = answers.flat().map((problem) => wrong('operator function', problem, todo))
  return findingsOrOk(problems, 'operator functions', `all ${names.length} work`)
}

/**
 * A person may leave a function's reserved concurrency at zero, and then nothing starts the
 * function. CloudFormation cannot find that fault in a stage that reserves nothing.
 */
export async function checkConcurrency(lambda: aws.LambdaClient, stage: DeployedStage) {
  const functions = MANIFEST.map((spec) => ({
    FunctionName: functionName(stage.settings.name, spec),
    expected: reservedConcurrency(spec, stage).reservedConcurrentExecutions,
  }))
  const all = [...functions, { FunctionName: stackNameOf(stage, PROVER), expected: undefined }]
  const findings = await mapInChunks(all, AT_ONCE, ({ FunctionName, expected = 'none' }) => {
    const what = `function ${FunctionName}`
    return runCheck(what, async () => {
      const answer = await lambda.send(new aws.GetFunctionConcurrencyCommand({ FunctionName }))
      const { ReservedConcurrentExecutions: actual = 'none' } = answer
      if (actual === expected) return []
      const detail = `reserved concurrency is ${actual}, should be ${expected}`
      const todo =
        expected === 'none'
          ? `aws lambda delete-function-concurrency --function-name ${FunctionName}`
          : `aws lambda put-function-concurrency --function-name ${FunctionName} --reserved-concurrent-executions ${expected}`
      return wrong(what, detail, todo)
    })
  })
  return findingsOrOk(
    findings.flat(),
    'functions',
    'all have the reserved concurrency of the stage',
  )
}

const REMEDY = 'restore the setting in infra/stack/triggers/event-sources.ts'

/** CloudFormation compares no event sources. */
export async function checkEventSources(lambda: aws.LambdaClient, stage: DeployedStage) {
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
        const { EventSourceMappings: mappings = [] } = await lambda.send(command)
        // A mapping from an unknown queue is compared with the first source.
        const isStray = (source: string | undefined) =>
          at === 0 && !sources.some(({ name: queueName }) => queueName === source)
        const compared = mappings.filter(
          (mapping) => queueNameOf(mapping) === name || isStray(queueNameOf(mapping)),
        )
        if (compared.length === 0) return wrong(what, 'is missing', REMEDY)
        return compared.map((mapping) =>
          compareSettings(what, [
            ['source', name, queueNameOf(mapping)],
            ['state', 'Enabled', mapping.State],
            ['batch size', batchSize, mapping.BatchSize],
            ['maximum concurrency', maxConcurrency, mapping.ScalingConfig?.MaximumConcurrency],
            [
              'partial batches',
              'ReportBatchItemFailures',
              mapping.FunctionResponseTypes?.join() || undefined,
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

function compareSettings(
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
