import { createHash } from 'node:crypto'
import * as dynamodb from '@aws-sdk/client-dynamodb'
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms'
import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { errorName } from '../../../infra/operate/check/finding.ts'
import { ENV } from '../../../shared/runtime/config.ts'
import { callbackSecretName, sealContext } from '../../../shared/secrets.ts'
import { ACCOUNT, ENDPOINT, REGION } from '../emulator.ts'
import { expect, type Rehearsal, STACK } from '../rehearsal.ts'
import { RESTORED } from './restore-stage.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const configurationOf = (name: string) =>
  awsClients(REGION).lambda.send(new GetFunctionConfigurationCommand({ FunctionName: `${STACK}-${name}` }))

const sealKeyArn = async () => (await configurationOf('deliver-webhook')).Environment?.Variables?.[ENV.sealKey] ?? ''

/** The credentials that MiniStack hands to a function once it has run: made of its name and its role's. */
const credentialsOf = async (name: string) => {
  const { FunctionArn: arn = '', Role: role = '' } = await configurationOf(name)
  const digest = sha256(`${arn}:${role}`)
  return {
    accessKeyId: `ASIA${digest.slice(0, 16).toUpperCase()}`,
    secretAccessKey: sha256(`secret:${digest}`),
    sessionToken: sha256(`token:${digest}`),
  }
}

const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'none' } })
/** The table that the roles are for by now. */
const TableName = RESTORED

/** Calls beside a granted one, each as a role that may not make it; the granted one shows that the role is the right one. */
const probesOf = (as: (name: string) => DynamoDBClientConfig & { readonly region: string }, KeyId: string) => {
  const reader = new DynamoDBClient(as('api-get-payment'))
  const worker = new DynamoDBClient(as('deliver-webhook'))
  const get = (client: DynamoDBClient, pk: string, more: object = {}) =>
    client.send(new dynamodb.GetItemCommand({ TableName, Key: key(pk), ...more }))
  const some = (...names: readonly string[]) => ({
    ProjectionExpression: names.map((_, at) => `#n${at}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, at) => [`#n${at}`, name])),
  })
  const endpoints = (more: object = {}) =>
    new dynamodb.QueryCommand({ ...ofEndpoints, ...more, ExpressionAttributeNames: { '#pk': 'pk', '#url': 'url' } })
  const [registering, delivering] = ['register-endpoint', 'deliver-webhook'].map((name) => new KMSClient(as(name))) as [
    KMSClient,
    KMSClient,
  ]
  const seal = (client: KMSClient, stage = 'dev') =>
    client.send(new EncryptCommand({ KeyId, Plaintext: Buffer.from('x'), EncryptionContext: sealContext(stage, NONE) }))
  const unseal = (client: KMSClient, stage = 'dev') =>
    client.send(
      new DecryptCommand({ KeyId, CiphertextBlob: Buffer.from('x'), EncryptionContext: sealContext(stage, NONE) }),
    )
  const registrar = new DynamoDBClient(as('register-endpoint'))
  const checked = (pk: string) => ({
    ConditionCheck: { TableName, Key: key(pk), ConditionExpression: 'attribute_not_exists(pk)' },
  })
  return {
    granted: [
      ['its own kind of item', () => get(reader, 'PAYMENT#none')],
      ['the fields it may read', () => get(worker, 'PAYMENT#none', some('pk', 'body'))],
      ['the fields it may query', () => registrar.send(endpoints(ONLY_URL))],
      ['sealing', () => seal(registering)],
    ],
    refused: [
      ['an item of another kind', () => get(reader, 'ENDPOINTS#none')],
      ['one of another kind among its own', () => reader.send(batchGet('CLIENT#none', 'PAYMENT#none'))],
      ['all there is', () => reader.send(new dynamodb.ScanCommand({ TableName }))],
      ['an index', () => reader.send(new dynamodb.QueryCommand(ofIndex))],
      [
        'another action on its own kind',
        () => reader.send(new dynamodb.DeleteItemCommand({ TableName, Key: key('PAYMENT#none') })),
      ],
      [
        'a step of a transaction',
        () => reader.send(new dynamodb.TransactWriteItemsCommand({ TransactItems: [checked('PAYMENT#none')] })),
      ],
      ['a field beside those it may read', () => get(worker, 'PAYMENT#none', some('pk', 'body', 'amount'))],
      ['all fields where it may read some', () => get(worker, 'PAYMENT#none')],
      ['the sealed secrets of endpoints', () => registrar.send(endpoints())],
      ['sealing by who unseals', () => seal(delivering)],
      ['sealing for another stage', () => seal(registering, 'prod')],
      ['unsealing by who seals', () => unseal(registering)],
      ['unsealing for another stage', () => unseal(delivering, 'prod')],
      ['a queue', () => new SQSClient(as('api-get-payment')).send(intoQueue)],
      ['a secret', () => new SecretsManagerClient(as('deliver-webhook')).send(ofCallback)],
    ],
  } as const
}

const NONE = { clientId: 'none', endpointId: 'none' }
const ONLY_URL = { ProjectionExpression: '#pk, #url', Select: 'SPECIFIC_ATTRIBUTES' }
const ofEndpoints = {
  TableName,
  KeyConditionExpression: '#pk = :pk',
  ExpressionAttributeValues: { ':pk': { S: 'ENDPOINTS#none' } },
}
const batchGet = (...pks: readonly string[]) =>
  new dynamodb.BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: pks.map(key) } } })
const ofIndex = {
  TableName,
  IndexName: 'by-owner',
  KeyConditionExpression: 'owner = :owner',
  ExpressionAttributeValues: { ':owner': { S: 'none' } },
}
const intoQueue = new SendMessageCommand({
  QueueUrl: `${ENDPOINT}/${ACCOUNT}/${STACK}-webhooks`,
  MessageBody: '{}',
})
const ofCallback = new GetSecretValueCommand({ SecretId: callbackSecretName('dev') })

/** That the judge says no: without this, silence would prove nothing. Answers how many calls it refused. */
export const refuseStrangers = ({ step }: Rehearsal): Promise<number> =>
  step('the judge refuses what is outside of a role, and nothing inside', async () => {
    const names = ['api-get-payment', 'deliver-webhook', 'register-endpoint']
    const credentials = new Map<string, Awaited<ReturnType<typeof credentialsOf>>>()
    for (const name of names) credentials.set(name, await credentialsOf(name))
    const as = (name: string) => ({ region: REGION, credentials: credentials.get(name) })
    const { granted, refused } = probesOf(as, await sealKeyArn())
    for (const [what, call] of granted) {
      const failure = await outcome(call())
      expect(failure === undefined, `${what} was refused: ${failure}`)
    }
    for (const [what, call] of refused) {
      const failure = await outcome(call())
      expect(/AccessDenied/.test(failure ?? ''), `${what} was not refused: ${failure ?? 'it was answered'}`)
    }
    return refused.length
  })

const outcome = (call: Promise<unknown>): Promise<string | undefined> => call.then(() => undefined, errorName)
