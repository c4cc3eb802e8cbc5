import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { App, Stack } from 'aws-cdk-lib'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { MANIFEST } from '../../functions/manifest.ts'
import { localAws } from '../../infra/local/emulators/dynamodb-local.ts'
import { resolveStack } from '../../infra/operate/trace/resolve-stack.ts'
import { GatewayFunction } from '../../infra/stack/functions/gateway-functions.ts'
import { SOURCE_MAPS } from '../../infra/stack/functions/source-maps.ts'
import { OperatorTopic } from '../../infra/stack/monitoring/operator-topic.ts'
import { deployedStage } from '../../infra/stack/stage.ts'
import { GatewayTable } from '../../infra/stack/storage/gateway-table.ts'
import { ProviderSecrets } from '../../infra/stack/storage/provider-secrets.ts'
import { GatewayQueues } from '../../infra/stack/triggers/gateway-queues.ts'
import { issueKey } from '../support/client-builders.ts'
import { aStoredClient } from '../support/payment-builders.ts'
import { testDeps } from '../support/test-deps.ts'

/** About a third above what the largest function needs today: a dependency that adds a cold start must be noticed. */
const LARGEST_BUNDLE_BYTES = 450_000

/** One of each way of being started; the others differ from them in domain code only. */
const BUNDLED = [
  'api-get-balance',
  'api-create-payment',
  'fan-out-events',
  'deliver-webhook',
  'check-due-work',
  'redeliver',
]

const Lambda = v.object({
  Properties: v.object({ FunctionName: v.string(), Code: v.object({ S3Key: v.pipe(v.string(), v.endsWith('.zip')) }) }),
})
const SourceMapFile = v.object({ sources: v.array(v.string()), sourcesContent: v.optional(v.unknown()) })
const Template = v.object({ Resources: v.record(v.string(), v.unknown()) })

const directory = mkdtempSync(join(tmpdir(), 'gateway-bundles-'))

/** The assets of some functions, bundled as `cdk deploy` bundles them, by function. */
const bundleAssets = (): ReadonlyMap<string, string> => {
  const stage = deployedStage('dev')
  const app = new App({ outdir: directory, context: cdkJson.context })
  const stack = new Stack(app, 'bundles')
  const resources = {
    stage,
    table: new GatewayTable(stack, 'Table', stage).table,
    queues: new GatewayQueues(stack, 'Queues', stage),
    topic: new OperatorTopic(stack, 'Alerts', { stage, name: 'alerts', recipients: [] }).topic,
    provider: new ProviderSecrets(stack, 'Provider', stage),
  }
  for (const spec of MANIFEST.filter(({ name }) => BUNDLED.includes(name))) new GatewayFunction(stack, spec, resources)
  const { Resources } = v.parse(Template, app.synth().getStackByName('bundles').template)
  const lambdas = Object.values(Resources).filter((resource) => v.is(Lambda, resource))
  return new Map(
    lambdas.map(({ Properties: { FunctionName, Code } }) => [
      FunctionName.replace('gateway-dev-', ''),
      `asset.${Code.S3Key.replace('.zip', '')}`,
    ]),
  )
}

/** Runs code in a plain Node process that knows no more than Lambda would tell it. */
const runInNode = async (code: string, ...args: readonly string[]): Promise<string> => {
  const { endpoint, region, credentials } = localAws(inject('dynamodbEndpoint'))
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code, ...args], {
    cwd: directory,
    env: {
      GATEWAY_STAGE: 'test',
      GATEWAY_TABLE: inject('tableName'),
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    },
  })
  return stdout
}

let assets: ReadonlyMap<string, string>
const bundleOf = (name: string) => join(directory, assets.get(name) ?? '', 'index.mjs')

beforeAll(() => {
  assets = bundleAssets()
})

afterAll(() => {
  rmSync(directory, { recursive: true })
})

describe('bundled functions', () => {
  it.each(BUNDLED)('%s is one module without a source map, small enough to start fast', (name) => {
    expect(readdirSync(join(directory, assets.get(name) ?? ''))).toStrictEqual(['index.mjs'])
    expect(statSync(bundleOf(name)).size).toBeLessThan(LARGEST_BUNDLE_BYTES)
    expect(readFileSync(bundleOf(name), 'utf8')).not.toContain('sourceMappingURL')
  })

  it.each(BUNDLED)('%s has its source map beside the assets, which leads from the bundle to the source', (name) => {
    const file = join(directory, SOURCE_MAPS, `${name}.mjs.map`)
    const { sources, sourcesContent } = v.parse(SourceMapFile, JSON.parse(readFileSync(file, 'utf8')))

    expect(sources.some((source) => source.endsWith(MANIFEST.find((spec) => spec.name === name)?.entry ?? '?'))).toBe(
      true,
    )
    expect(sourcesContent).toBeUndefined()
  })

  it('are traced back to their source lines by their maps', () => {
    const code = readFileSync(bundleOf('api-get-balance'), 'utf8')
    const message = 'the environment carries no AWS credentials'
    const lines = code.slice(0, code.indexOf(message)).split('\n')
    const stack = `Error\n    at file:///var/task/index.mjs:${lines.length}:${lines.at(-1)?.length ?? 0}`
    const map = readFileSync(join(directory, SOURCE_MAPS, 'api-get-balance.mjs.map'), 'utf8')

    const [file = '', line = '0'] = resolveStack(stack, JSON.parse(map)).split('at ').at(-1)?.split(':') ?? []

    expect(file).toMatch(/(^|\/)shared\/runtime\/env-credentials\.ts$/)
    const source = readFileSync('shared/runtime/env-credentials.ts', 'utf8').split('\n')
    expect(source[Number(line) - 1]).toContain(message)
  })

  it.each(BUNDLED)('%s carries none of the credential sources that Lambda does not have', (name) => {
    const code = readFileSync(bundleOf(name), 'utf8')

    expect(code).toContain('the environment carries no AWS credentials')
    expect(code).not.toMatch(/credential_process|sso_session|169\.254\.170\.2|AWS_CONTAINER_CREDENTIALS/)
  })

  it.each(BUNDLED)('%s loads and exports its handler', async (name) => {
    const output = await runInNode(
      'console.log(typeof (await import(process.argv[1])).handler)',
      pathToFileURL(bundleOf(name)).href,
    )

    expect(output).toBe('function\n')
  })

  it('answers a request from the table, as deployed, with nothing but its environment', async () => {
    const deps = testDeps()
    const { clientId } = await aStoredClient(deps)
    const { header } = await issueKey(deps, clientId)
    const event = {
      version: '2.0',
      routeKey: 'GET /v1/balance',
      headers: { authorization: header },
      requestContext: { requestId: 'request-1', http: { method: 'GET', path: '/v1/balance' } },
      isBase64Encoded: false,
    }

    const output = await runInNode(
      `const { handler } = await import(process.argv[1])
       const { statusCode, body } = await handler(JSON.parse(process.argv[2]), {})
       console.log(JSON.stringify({ statusCode, body: JSON.parse(body) }))`,
      pathToFileURL(bundleOf('api-get-balance')).href,
      JSON.stringify(event),
    )

    const answer = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '')
    expect(answer).toMatchObject({ statusCode: 200, body: { pending_minor: 0, available_minor: 0, currency: 'IDR' } })
    expect(output).not.toContain(header)
  })
})
