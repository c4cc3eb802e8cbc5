/**
 * Goal: each function that `cdk deploy` uploads starts fast and works, and the same code makes the
 * same assets. Method: a process synthesises the stacks with their assets, as `npm run synth` does.
 * A plain Node process loads one asset of each kind with the environment of its template. The test
 * then requests the proof of a release from it. The test adds only the address of an empty table,
 * and the credentials that Lambda gives. The nightly run synthesises twice, and prod too, and tests
 * every asset.
 * The rehearsal calls every function with its real events.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin, SourceMap } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { InvokeCommand } from '@aws-sdk/client-lambda'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  answersClients,
  type FunctionSpec,
  functionName,
  isHttp,
  routeKeyOf,
} from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { jsonReply, startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'
import { resolveStack } from '../../../infra/operate/source-lines/resolve-stack.ts'
import { SOURCE_MAPS } from '../../../infra/stack/project-root.ts'
import { proveVersions } from '../../../shared/runtime/release/prove-versions.ts'
import { matchesIn } from '../../support/document-blocks.ts'
import { lambdaAnswer, lambdaEvent } from '../../support/lambda-answer.ts'
import { isNightly } from '../../support/runs.ts'
import { tempDirectory } from '../../support/temp-directory.ts'
import {
  assemblyFiles,
  type BundledFunction,
  bundledStage,
  lambdaEnvironment,
} from './bundled-stage.ts'

const NO_CREDENTIALS = 'the environment has no AWS credentials'

const STAGE = 'dev'
const directory = mkdtempSync(join(tmpdir(), 'gateway-assets-'))

let functions: ReadonlyMap<string, BundledFunction>
let printed: string

beforeAll(async () => {
  ;({ printed, functions } = await bundledStage(STAGE, directory))
})

afterAll(() => rmSync(directory, { recursive: true }))

function clientsOf(spec: FunctionSpec) {
  return [
    ...(Object.keys(spec.table).length > 0 ? ['dynamodb'] : []),
    ...(spec.endpointSecrets === undefined ? [] : ['kms']),
    // The origin secret of a stage behind a front. No stage has code of its own.
    ...(spec.secrets.length > 0 || isHttp(spec) ? ['secretsmanager'] : []),
    ...(spec.alerts ? ['sns'] : []),
    ...(spec.sends.length > 0 ? ['sqs'] : []),
  ]
}

function assetOf(name = '') {
  const asset = functions.get(name)
  if (!asset) throw new Error(`the template has no function ${name}`)
  return asset
}

describe('the assets of the stack', () => {
  it.runIf(isNightly)('are the same after a second synthesis of the same code', async () => {
    const secondDirectory = tempDirectory()
    await bundledStage(STAGE, secondDirectory)

    expect(assemblyFiles(secondDirectory)).toStrictEqual(assemblyFiles(directory))
  })

  it.runIf(isNightly)('of dev and of prod are equal by their hash', async () => {
    const prod = await bundledStage('prod', tempDirectory())
    const hashesIn = (stage: string, all: ReadonlyMap<string, BundledFunction>) =>
      Object.fromEntries(
        [...all].map(([name, { hash }]) => [name.replace(`gateway-${stage}-`, ''), hash]),
      )
    const ofDev = hashesIn(STAGE, functions)

    expect(Object.keys(ofDev)).toStrictEqual(
      expect.arrayContaining(MANIFEST.map(({ name }) => name)),
    )
    // Production may have functions that dev has not.
    expect(hashesIn('prod', prod.functions)).toMatchObject(ofDev)
  })

  it('are synthesised without a warning', () => {
    const lines = printed.split('\n').filter((line) => !line.startsWith('npm warn'))
    expect(lines.filter((line) => /warn|deprecat/i.test(line))).toStrictEqual([])
  })

  it.each(MANIFEST)(
    'are one small module each, with only Node modules and the SDK clients in use: $name',
    (spec) => {
      const { file } = assetOf(functionName(STAGE, spec))
      const code = readFileSync(file, 'utf8')
      const clients = ['dynamodb', 'kms', 'secretsmanager', 'sns', 'sqs']

      expect(readdirSync(dirname(file))).toStrictEqual(['index.mjs'])
      const imports = matchesIn(code, /\bimport(?:[\w*${}, ]+from)?"([^"]+)"/g)
      expect(imports.filter((name) => !isBuiltin(name))).toStrictEqual([])
      // Above the largest bundle: a dependency that slows cold starts fails.
      expect(code.length).toBeLessThan(450_000)
      expect(clients.filter((name) => code.includes(`"com.amazonaws.${name}"`))).toStrictEqual(
        clientsOf(spec),
      )
      expect(code.includes('gateway-webhooks/')).toBe(spec.callsMerchants === true)
      // Credentials come only from the environment, the source map is a separate file, and no
      // literal has a class of Unicode.
      expect(code.includes(NO_CREDENTIALS)).toBe(clientsOf(spec).length > 0)
      expect(code).not.toMatch(
        /credential_process|sso_session|169\.254\.170\.2|AWS_CONTAINER_CREDENTIALS|sourceMappingURL|[^\\]\\p\{/,
      )
    },
  )

  const mapOf = (name: string) =>
    JSON.parse(readFileSync(join(directory, SOURCE_MAPS, `${name}.mjs.map`), 'utf8'))

  it('have source maps that lead to each entry, without the source text', () => {
    for (const { name, entry } of MANIFEST) {
      const map: { readonly sources: readonly string[]; readonly sourcesContent?: unknown } =
        mapOf(name)

      expect(map.sources.filter((source) => source.endsWith(entry))).toHaveLength(1)
      expect(map.sources.filter((source) => /(^|\/)infra\//.test(source))).toStrictEqual([])
      expect(map.sourcesContent).toBeUndefined()
    }
  })

  it('have source maps that trace a stack to its source line', () => {
    const code = readFileSync(assetOf(`gateway-${STAGE}-api-get-balance`).file, 'utf8')
    const lines = code.slice(0, code.indexOf(NO_CREDENTIALS)).split('\n')
    const stack = `Error\n    at file:///var/task/index.mjs:${lines.length}:${lines.at(-1)?.length ?? 0}`

    const traced = resolveStack(stack, new SourceMap(mapOf('api-get-balance')))

    const [line = '0'] = matchesIn(traced, /at \S*\bshared\/runtime\/env-credentials\.ts:(\d+)/g)
    const source = readFileSync('shared/runtime/env-credentials.ts', 'utf8').split('\n')
    expect(source[Number(line) - 1]).toContain(NO_CREDENTIALS)
  })
})

const RUN = `
  const { handler } = await import(process.argv[1])
  const context = { awsRequestId: 'invocation', functionName: 'asset', getRemainingTimeInMillis: () => 20_000 }
  const answer = await handler(JSON.parse(process.argv[2]), context)
  process.stdout.write('\\n' + JSON.stringify(answer), () => process.exit())`

/**
 * Bundles differ by trigger kind and clients, so one function of each pair is tested; the nightly
 * run tests all.
 */
const firstOfEach = Map.groupBy(MANIFEST, (spec) =>
  [spec.trigger.kind, ...clientsOf(spec)].join(' '),
).values()
const PROVEN_SPECS = isNightly ? MANIFEST : [...firstOfEach].flatMap(([spec]) => spec ?? [])

it('the assets of the stack load without other files, and each answers the proof of a release', async () => {
  const table = await startLocalHttpServer({ port: 0, answer: () => jsonReply(200, {}) })
  const send = async ({ input }: InvokeCommand) => {
    const asset = assetOf(input.FunctionName)
    const event = JSON.stringify(lambdaEvent(input))
    const args = ['--input-type=module', '--eval', RUN, pathToFileURL(asset.file).href, event]
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: lambdaEnvironment(asset, table.url),
    })
    return lambdaAnswer(JSON.parse(stdout.split('\n').at(-1) ?? ''))
  }
  // The proof only sends.
  const lambda = { send } as never
  const asks = PROVEN_SPECS.map((spec) => ({
    target: functionName(STAGE, spec),
    route: answersClients(spec) ? routeKeyOf(spec) : undefined,
  }))

  const problems = await proveVersions(
    { stage: STAGE, lambda, nowMs: () => 0, sleep: async () => {} },
    { asks, rounds: 1 },
  )

  await table.close()
  expect(problems).toStrictEqual([])
})
