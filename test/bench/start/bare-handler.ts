import { type FunctionSpec, isHttp } from '../../../functions/function-spec.ts'
import type { DeployedStage } from '../../../infra/stack/stage.ts'

/** Each client as it is made where nothing else is there: its commands are loaded with it. The table's makes one read. */
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
export type Means = keyof typeof MEANS

/** What a function of a stage cannot do without. */
export const meansOf = (spec: FunctionSpec, { front }: DeployedStage): readonly Means[] => [
  ...(Object.keys(spec.table).length > 0 ? (['dynamodb'] as const) : []),
  ...(spec.endpointSecrets === undefined ? [] : (['sealer'] as const)),
  ...(spec.secrets.length > 0 || (front !== 'none' && isHttp(spec)) ? (['secrets'] as const) : []),
  ...(spec.alerts ? (['alerts'] as const) : []),
  ...(spec.sends.length > 0 ? (['queues'] as const) : []),
  ...(spec.callsMerchants === true || spec.endpointSecrets === 'seal' ? (['addresses'] as const) : []),
  ...(spec.callsMerchants === true ? (['merchants'] as const) : []),
]

/** The source of a handler that has these means and does nothing: nothing starts faster. */
export const bareHandler = (means: readonly Means[]): string =>
  [
    'const made = []',
    ...means.map((name) => MEANS[name]),
    'export const handler = async () => ({ statusCode: 200, body: String(made.length) })',
  ].join('\n')
