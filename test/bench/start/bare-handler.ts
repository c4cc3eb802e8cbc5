import { readFileSync } from 'node:fs'
import { build, type Metafile } from 'esbuild'
import * as valibot from 'valibot'
import { type FunctionSpec, isHttp } from '../../../functions/function-spec.ts'
import { BUNDLE_OPTIONS } from '../../../infra/stack/functions/assets-of.ts'
import { matchesIn } from '../../support/document-blocks.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'

/** What a function that calls AWS sets: without a number of tries, the SDK reads its profiles. */
const OPTIONS = '{ maxAttempts: 3, requestHandler: { requestTimeout: 3000 } }'

/**
 * The least code that makes each client and loads its commands. The table's client also makes one
 * read.
 */
const MEANS = {
  dynamodb: `
    import { ConditionalCheckFailedException, DynamoDBClient, TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb'
    import { BatchGetCommand, DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
    import { unmarshall } from '@aws-sdk/util-dynamodb'
    const client = DynamoDBDocumentClient.from(new DynamoDBClient(${OPTIONS}))
    await client.send(new GetCommand({ TableName: 'gateway', Key: { pk: 'NOTHING', sk: 'NOTHING' }, ConsistentRead: true }))
    made.push(BatchGetCommand, DeleteCommand, GetCommand, PutCommand, QueryCommand, TransactWriteCommand, UpdateCommand)
    made.push(ConditionalCheckFailedException, TransactionCanceledException, TransactionConflictException, unmarshall)`,
  secrets: `
    import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
    made.push(new SecretsManagerClient(${OPTIONS}), GetSecretValueCommand)`,
  sealer: `
    import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms'
    made.push(new KMSClient(${OPTIONS}), DecryptCommand, EncryptCommand)`,
  alerts: `
    import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
    made.push(new SNSClient(${OPTIONS}), PublishCommand)`,
  queues: `
    import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs'
    made.push(new SQSClient(${OPTIONS}), SendMessageBatchCommand)`,
} as const
type Means = keyof typeof MEANS

/** The handler with the clients, the packages and the modules of Node that a bundle loads. */
export function bareHandler(means: readonly Means[], bundle: BundledFunction) {
  const { files } = bundle
  return [
    'const made = []',
    ...modulesOfNode(bundle).map(
      (name, index) => `import * as m${index} from '${name}'\nmade.push(m${index})`,
    ),
    ...packagesOf(files).flatMap((name) => PACKAGES[name] ?? []),
    usedSchemas(files),
    ...means.map((name) => MEANS[name]),
    'export const handler = async () => ({ statusCode: 200, body: String(made.length) })',
  ].join('\n')
}

export function meansOf(spec: FunctionSpec) {
  const uses = {
    dynamodb: Object.keys(spec.table).length > 0,
    secrets: spec.secrets.length > 0 || isHttp(spec),
    sealer: spec.endpointSecrets !== undefined,
    alerts: spec.alerts,
    queues: spec.sends.length > 0,
  } satisfies Record<Means, boolean>
  return MEANS_NAMES.filter((name) => uses[name])
}

const MEANS_NAMES: readonly Means[] = ['dynamodb', 'secrets', 'sealer', 'alerts', 'queues']

type BundledFunction = { readonly file: string; readonly files: readonly string[] }

function modulesOfNode({ file }: BundledFunction) {
  const names = matchesIn(readFileSync(file, 'utf8'), /(?:from|import)"(node:[\w/]+)"/g)
  return [...new Set(names)].toSorted()
}

/** A short use of each package that is no client. */
const PACKAGES: Readonly<Record<string, string>> = {
  '@middy/core': `
    import middy from '@middy/core'
    made.push(middy)`,
  'lossless-json': `
    import { isLosslessNumber, parse, splitNumber } from 'lossless-json'
    made.push(isLosslessNumber, parse, splitNumber)`,
}

/** Our files import valibot whole, and the bundler keeps what they use of it. */
function usedSchemas(files: readonly string[]) {
  const names = files
    .filter((file) => !file.includes('node_modules'))
    .flatMap((file) => matchesIn(readFileSync(file, 'utf8'), /\bv\.([a-z]\w*)/g))
  const known = [...new Set(names)].filter((name) => name in valibot)
  return `import * as v from 'valibot'\nmade.push(${known.map((name) => `v.${name}`).join(', ')})`
}

/** Bundles a bare handler as a function is bundled. Throws if their packages differ. */
export async function bundleBare(outfile: string, contents: string, files: readonly string[]) {
  const { metafile } = await build({
    ...BUNDLE_OPTIONS,
    stdin: { contents, resolveDir: PROJECT_ROOT },
    outfile,
    metafile: true,
  })
  const loaded = packagesOf(bundledFiles(metafile))
  const differ = [...new Set(loaded).symmetricDifference(new Set(packagesOf(files)))]
  if (differ.length > 0)
    throw new Error(`the bare handler differs by the packages ${differ.join()}`)
}

function bundledFiles({ outputs }: Metafile) {
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [file] : [],
    ),
  )
}

function packagesOf(files: readonly string[]) {
  const names = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [])
  return [...new Set(names)].toSorted()
}
