import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { type FunctionSpec, functionName, isHttp } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { jsonReply, startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'
import { BUNDLE_OPTIONS } from '../../../infra/stack/functions/assets-of.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { mapInChunks } from '../../../shared/chunks.ts'
import { bundledStage, lambdaEnvironment } from '../../infra/assets/bundled-stage.ts'
import { markdownTable } from '../../support/markdown-table.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'

/**
 * The start of a bundle, as a multiple of its bare handler's, is at most this (design section 9).
 */
const LIMIT = 1.15
/**
 * Others use the machine as well, so a bundle and its bare handler are started one after the other
 * and their ratio counts: what disturbs one start mostly disturbs both. A bundle whose median of
 * some pairs is over the limit is started more often.
 */
const [MIN_PAIRS, MAX_PAIRS] = [7, 41]

const STAGE = deployedStage('prod')

/**
 * The standard output is opened before: Lambda's own runtime has done so when it loads a function.
 */
const LOAD = `
  void process.stdout
  const from = process.cpuUsage()
  await import(process.argv[1])
  const { user, system } = process.cpuUsage(from)
  process.stdout.write(String((user + system) / 1000), () => process.exit())`

/**
 * The least code that makes each client and loads its commands. The table's client also makes one
 * read.
 */
const MEANS = {
  dynamodb: `
    import { BatchGetItemCommand, DeleteItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand, TransactWriteItemsCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
    import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
    const client = new DynamoDBClient({})
    await client.send(new GetItemCommand({ TableName: 'gateway', Key: { pk: { S: 'NOTHING' }, sk: { S: 'NOTHING' } }, ConsistentRead: true }))
    made.push(client, BatchGetItemCommand, DeleteItemCommand, GetItemCommand, PutItemCommand, QueryCommand, TransactWriteItemsCommand, UpdateItemCommand, marshall, unmarshall)`,
  secrets: `
    import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
    made.push(new SecretsManagerClient({}), GetSecretValueCommand)`,
  sealer: `
    import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms'
    made.push(new KMSClient({}), DecryptCommand, EncryptCommand)`,
  alerts: `
    import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
    made.push(new SNSClient({}), PublishCommand)`,
  queues: `
    import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
    made.push(new SQSClient({}), SendMessageCommand)`,
  addresses: `
    import { Resolver } from 'node:dns/promises'
    made.push(Resolver)`,
  merchants: `
    import http from 'node:http'
    import https from 'node:https'
    made.push(http, https)`,
} as const
type Means = keyof typeof MEANS

/** Every bundle of `prod` beside the bare handler with the same clients (design section 9). */
export async function startReport() {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-start-'))
  let reads = 0
  const table = await startLocalHttpServer({
    port: 0,
    answer: () => {
      reads++
      return jsonReply(200, {})
    },
  })
  try {
    const functions = await functionsOf(directory, table.url)
    await assertRead(functions, () => reads)
    await measure(functions)
    const heading = ['Function', 'Its clients', 'KB', 'KB, bare', 'Start, of the bare']
    const over = functions.filter((measured) => median(measured) > LIMIT).length
    return {
      text: `${markdownTable(heading, functions.map(row))}\n\nOver the limit of ${LIMIT}: ${over} of ${functions.length} functions.`,
      failures: functions
        .filter(isSurelyOver)
        .map(
          (measured) =>
            `${measured.name} starts in ${median(measured).toFixed(2)} times what a bare handler takes, over ${LIMIT}`,
        ),
    }
  } finally {
    rmSync(directory, { recursive: true })
    await table.close()
  }
}

async function functionsOf(directory: string, tableUrl: string) {
  const { functions } = await bundledStage(STAGE.settings.name, directory)
  const bareFiles = new Map<string, string>()
  const measured = []
  for (const spec of MANIFEST) {
    const means = meansOf(spec, STAGE)
    const bundle = functions.get(functionName(STAGE.settings.name, spec))
    if (bundle === undefined) throw new Error(`the template has no function ${spec.name}`)
    const bare = bareFiles.get(means.join()) ?? (await bareOf(directory, means))
    bareFiles.set(means.join(), bare)
    const env = lambdaEnvironment(bundle, tableUrl)
    const ratios: number[] = []
    measured.push({ name: spec.name, means, file: bundle.file, bare, env, ratios })
  }
  return measured
}

function meansOf(spec: FunctionSpec, { front }: DeployedStage): readonly Means[] {
  return [
    ...(Object.keys(spec.table).length > 0 ? (['dynamodb'] as const) : []),
    ...(spec.endpointSecrets === undefined ? [] : (['sealer'] as const)),
    ...(spec.secrets.length > 0 || (front !== 'none' && isHttp(spec))
      ? (['secrets'] as const)
      : []),
    ...(spec.alerts ? (['alerts'] as const) : []),
    ...(spec.sends.length > 0 ? (['queues'] as const) : []),
    ...(spec.callsMerchants === true || spec.endpointSecrets === 'seal'
      ? (['addresses'] as const)
      : []),
    ...(spec.callsMerchants === true ? (['merchants'] as const) : []),
  ]
}

/**
 * The bundle of a handler that has these clients and does nothing: no handler with them starts
 * faster.
 */
async function bareOf(directory: string, means: readonly Means[]): Promise<string> {
  const outfile = join(directory, `bare-${means.join('-')}.mjs`)
  const handler =
    'export const handler = async () => ({ statusCode: 200, body: String(made.length) })'
  const contents = ['const made = []', ...means.map((name) => MEANS[name]), handler].join('\n')
  await build({ ...BUNDLE_OPTIONS, stdin: { contents, resolveDir: PROJECT_ROOT }, outfile })
  return outfile
}

type Measured = Awaited<ReturnType<typeof functionsOf>>[number]

/**
 * Checks that each start reads the table. A failed read is not visible from outside, and would look
 * like a fast start.
 */
async function assertRead(functions: readonly Measured[], reads: () => number): Promise<void> {
  for (const { name, means, file, env } of functions) {
    const before = reads()
    await startMs(file, env)
    if (reads() > before !== means.includes('dynamodb'))
      throw new Error(`${name} does not start with a read of the table`)
  }
}

/**
 * Milliseconds of a processor from a module's load to its first request, without the process's own
 * start.
 */
async function startMs(file: string, env: NodeJS.ProcessEnv): Promise<number> {
  const args = ['--input-type=module', '--eval', LOAD, pathToFileURL(file).href]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  return Number(stdout)
}

async function measure(functions: readonly Measured[]): Promise<void> {
  let open = functions
  for (let pair = 1; pair <= MAX_PAIRS && open.length > 0; pair++) {
    // One more pair of starts of each function, on every core; the two starts of a pair follow one
    // another.
    await mapInChunks(open, availableParallelism(), async (measured) => {
      measured.ratios.push(
        (await startMs(measured.file, measured.env)) / (await startMs(measured.bare, measured.env)),
      )
    })
    if (pair >= MIN_PAIRS && pair % 2 === 1)
      open = open.filter((measured) => median(measured) > LIMIT && !isSurelyOver(measured))
  }
}

function median({ ratios }: Measured): number {
  return ratios.toSorted((a, b) => a - b)[(ratios.length - 1) / 2] ?? Infinity
}

/**
 * Over the limit in 31 of 41 pairs. With a true ratio at the limit this happens in one run of
 * 1,000.
 */
function isSurelyOver({ ratios }: Measured): boolean {
  return ratios.filter((ratio) => ratio > LIMIT).length >= 31
}

function row(measured: Measured): readonly string[] {
  const sizes = [measured.file, measured.bare].map((file) =>
    String(Math.round(statSync(file).size / 1_024)),
  )
  return [`\`${measured.name}\``, measured.means.join(', '), ...sizes, median(measured).toFixed(2)]
}
