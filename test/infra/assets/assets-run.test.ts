/**
 * Goal: each function that `cdk deploy` uploads works and starts fast, and the same code makes the same assets. Method:
 * a process synthesises the stacks with their assets, as `npm run synth` does. A plain Node process loads one asset of
 * each kind with the environment of its template, and calls it once, as its trigger would, on the local services. The
 * test adds only the addresses, and the credentials that Lambda gives. Each function has its own table with a copy of
 * the same merchant. The nightly run synthesises twice and calls every asset.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { CloudAssembly } from 'aws-cdk-lib/cx-api'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FunctionSpec, functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { type QueueEmulator, startQueueEmulator } from '../../../infra/local/emulators/queue-emulator.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { resolveStack } from '../../../infra/operate/trace/resolve-stack.ts'
import { SOURCE_MAPS } from '../../../infra/stack/project-root.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { QUEUE_NAMES } from '../../../shared/queues.ts'
import { ENV } from '../../../shared/runtime/config.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { DAY_MS, timestampOf } from '../../../shared/time.ts'
import { describeOnDynamoDb, dynamoDb } from '../../support/dynamodb.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { operatorWorld } from '../../support/operator-world.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { aSimulator } from '../../support/provider-simulator-harness.ts'
import { takesEvery } from '../../support/runs.ts'
import { adapter } from '../../support/scripted-provider.ts'
import { testDeps } from '../../support/test-deps.ts'
import { assemblyFiles, type BundledFunction, bundledStage, bundlesIn, synthesisedByCommand } from './bundled-stage.ts'
import { anInvocation, copyTable, runAsset } from './run-asset.ts'
import { startSecretsEmulator } from './secrets-emulator.ts'

/** A third more than the largest bundle today, so that a dependency that slows cold starts fails a test. */
const LARGEST_BUNDLE_BYTES = 450_000

const NO_CREDENTIALS = 'the environment has no AWS credentials'
const SourceMapFile = v.object({ sources: v.array(v.string()), sourcesContent: v.optional(v.unknown()) })

const STAGE = 'assets'
const TABLE = `gateway-${STAGE}`
const KEY = `Payment gateway ${STAGE}: secrets of endpoints`
const [directory, again] = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'gateway-assets-'))) as [string, string]
const secrets = new Map([
  [providerSecretName(STAGE), JSON.stringify({ secret_key: PROVIDER_KEY })],
  [callbackSecretName(STAGE), JSON.stringify({ callback_tokens: [CALLBACK_TOKEN] })],
])

let functions: ReadonlyMap<string, BundledFunction>
/** The output of `npm run synth`. */
let printed: string
let emulator: QueueEmulator
let simulator: Awaited<ReturnType<typeof aSimulator>>
const secretsEmulator = await startSecretsEmulator(secrets)
/** The local address of each resource that a template refers to. */
const local = new Map([['kms', KEY]])

beforeAll(async () => {
  emulator = await startQueueEmulator()
  simulator = await aSimulator()
  const alerts = await emulator.queue('alerts')
  local.set(`sns ${TABLE}-alerts`, await emulator.topicInto('alerts', alerts))
  for (const name of QUEUE_NAMES) {
    local.set(`sqs ${TABLE}-${name}`, await emulator.queue(`${TABLE}-${name}`))
  }
  printed = await synthesisedByCommand(STAGE, directory)
  functions = bundlesIn(new CloudAssembly(directory), deployedStage(STAGE))
}, 240_000)

afterAll(async () => {
  await Promise.all([emulator?.close(), simulator?.[Symbol.asyncDispose](), secretsEmulator.close()])
  for (const one of [directory, again]) rmSync(one, { recursive: true })
})

/** The template's environment with local addresses, and the variables of Lambda and the local services. */
const environmentOf = ({ environment }: BundledFunction, table: string) => {
  const { endpoint, region, credentials } = localAws(dynamoDb().endpoint)
  const { origin: emulatorUrl } = new URL(local.get(`sqs ${TABLE}-webhooks`) ?? '')
  return {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, local.get(value) ?? value])),
    [ENV.table]: table,
    [ENV.providerUrl]: simulator.simulator.url,
    AWS_ENDPOINT_URL_SQS: emulatorUrl,
    AWS_ENDPOINT_URL_SNS: emulatorUrl,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsEmulator.url,
    AWS_ENDPOINT_URL_KMS: secretsEmulator.url,
  }
}

/** A merchant with a history that begins nine days ago, in memory. */
const aWorld = async () => {
  const deps = memoryDeps({ sealer: secretsEmulator.sealer(STAGE, KEY), stage: { ...testDeps().stage, name: STAGE } })
  deps.clock.set(timestampOf(Date.now() - 9 * DAY_MS))
  const world = await operatorWorld(deps)
  // The simulator that the functions call knows this payment.
  deps.clock.set(timestampOf(Date.now()))
  deps.provider.script('createRequest', adapter(simulator).createRequest)
  const open = await aPendingPayment(deps, world.client)
  return { deps, ...world, names: { ...world.names, $open: open.paymentId } }
}

/** The SDK clients that a function needs, in alphabetical order. This stage has no front. */
const clientsOf = (spec: FunctionSpec): readonly string[] => [
  ...(Object.keys(spec.table).length > 0 ? ['dynamodb'] : []),
  ...(spec.endpointSecrets === undefined ? [] : ['kms']),
  ...(spec.secrets.length > 0 ? ['secretsmanager'] : []),
  ...(spec.alerts ? ['sns'] : []),
  ...(spec.sends.length > 0 ? ['sqs'] : []),
]

const assetOf = (spec: FunctionSpec) => {
  const asset = functions.get(functionName(STAGE, spec))
  if (!asset) throw new Error(`the template has no function ${spec.name}`)
  return asset
}

describe('the assets of the stack', () => {
  it.runIf(takesEvery)('are the same after a second synthesis of the same code', () => {
    bundledStage(deployedStage(STAGE), again)

    expect(assemblyFiles(again)).toStrictEqual(assemblyFiles(directory))
  })

  it('are synthesised without a warning', () => {
    const lines = printed.split('\n').filter((line) => !line.startsWith('npm warn'))
    expect(lines.filter((line) => /warn|deprecat/i.test(line))).toStrictEqual([])
  })

  it('import only modules of Node', () => {
    for (const { file } of functions.values()) {
      const loaded = readFileSync(file, 'utf8').matchAll(/\bimport(?:[\w*${}, ]+from)?"([^"]+)"/g)

      expect([...loaded].map(([, name = '']) => name).filter((name) => !isBuiltin(name))).toStrictEqual([])
    }
  })

  it.each(MANIFEST)('are one small module with only the SDK clients that it uses: $name', (spec) => {
    const { file } = assetOf(spec)
    const code = readFileSync(file, 'utf8')
    const clients = ['dynamodb', 'kms', 'secretsmanager', 'sns', 'sqs']

    expect(readdirSync(dirname(file))).toStrictEqual(['index.mjs'])
    expect(code.length).toBeLessThan(LARGEST_BUNDLE_BYTES)
    expect(clients.filter((name) => code.includes(`"com.amazonaws.${name}"`))).toStrictEqual(clientsOf(spec))
    expect(code.includes('gateway-webhooks/')).toBe(spec.callsMerchants === true)
    // Clients take credentials only from the environment, and the source map is a separate file.
    expect(code.includes(NO_CREDENTIALS)).toBe(clientsOf(spec).length > 0)
    expect(code).not.toMatch(
      /credential_process|sso_session|169\.254\.170\.2|AWS_CONTAINER_CREDENTIALS|sourceMappingURL/,
    )
  })

  const mapOf = (name: string) => JSON.parse(readFileSync(join(directory, SOURCE_MAPS, `${name}.mjs.map`), 'utf8'))

  it('have source maps that lead to each entry, without the source text', () => {
    for (const { name, entry } of MANIFEST) {
      const { sources, sourcesContent } = v.parse(SourceMapFile, mapOf(name))

      expect(sources.filter((source) => source.endsWith(entry))).toHaveLength(1)
      expect(sources.filter((source) => /(^|\/)infra\//.test(source))).toStrictEqual([])
      expect(sourcesContent).toBeUndefined()
    }
  })

  it('have source maps that trace a stack to its source line', () => {
    const code = readFileSync(functions.get(`${TABLE}-api-get-balance`)?.file ?? '', 'utf8')
    const lines = code.slice(0, code.indexOf(NO_CREDENTIALS)).split('\n')
    const stack = `Error\n    at file:///var/task/index.mjs:${lines.length}:${lines.at(-1)?.length ?? 0}`

    const [file = '', line = '0'] = resolveStack(stack, mapOf('api-get-balance')).split('at ').at(-1)?.split(':') ?? []

    expect(file).toMatch(/(^|\/)shared\/runtime\/env-credentials\.ts$/)
    const source = readFileSync('shared/runtime/env-credentials.ts', 'utf8').split('\n')
    expect(source[Number(line) - 1]).toContain(NO_CREDENTIALS)
  })
})

const onDynamoDb = await describeOnDynamoDb()

/** Bundles differ by trigger kind and clients, so one function of each pair is called; the nightly run calls all. */
const firstOfEach = Map.groupBy(MANIFEST, (spec) => [spec.trigger.kind, ...clientsOf(spec)].join(' ')).values()
const CALLED = takesEvery ? MANIFEST : [...firstOfEach].flatMap(([spec]) => spec ?? [])

onDynamoDb('the assets of the stack, called once', () => {
  let world: Awaited<ReturnType<typeof aWorld>>
  beforeAll(async () => {
    world = await aWorld()
  })

  it.concurrent.each(CALLED)('$name loads without other files and gives the expected answer', async (spec) => {
    const asset = assetOf(spec)
    const { event, answers } = await anInvocation(spec, world)
    const table = await copyTable(world.deps, `${TABLE}-${spec.name}`)

    const { answer, output } = await runAsset(asset.file, event, environmentOf(asset, table))

    expect(answer).toMatchObject(answers)
    expect(output).not.toContain(world.header)
    expect(output).not.toContain(PROVIDER_KEY)
  })

  it('reach their queue: a redelivery has sent its message', async () => {
    const QueueUrl = local.get(`sqs ${TABLE}-webhooks`)
    const received = await emulator.sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))

    expect(received.Messages?.map(({ Body = '' }) => Object.keys(JSON.parse(Body)))).toContainEqual(
      expect.arrayContaining(['delivery_id', 'attempt']),
    )
  })
})
