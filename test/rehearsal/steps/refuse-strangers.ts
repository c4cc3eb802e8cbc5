import { createHash } from 'node:crypto'
import * as dynamodb from '@aws-sdk/client-dynamodb'
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { EncryptCommand, KMSClient } from '@aws-sdk/client-kms'
import { GetAliasCommand, GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { errorName } from '../../../infra/operate/check/finding.ts'
import { LIVE_ALIAS } from '../../../infra/stack/stage.ts'
import { ENV } from '../../../shared/runtime/config.ts'
import { callbackSecretName, sealContext } from '../../../shared/secrets.ts'
import { ACCOUNT, ENDPOINT, REGION } from '../emulator.ts'
import { expect, type Rehearsal, STACK } from '../rehearsal.ts'
import { RESTORED } from './restore-stage.ts'

/**
 * Shows that the judge refuses calls: otherwise a rehearsal without refusals would prove nothing.
 */
export function refuseStrangers({ step }: Rehearsal) {
  return step('the judge refuses what is outside of a role, and nothing inside', async () => {
    const credentials = new Map<string, Awaited<ReturnType<typeof credentialsOf>>>()
    for (const name of [
      'api-get-payment',
      'deliver-webhook',
      'register-endpoint',
      'receive-provider-callback',
    ])
      credentials.set(name, await credentialsOf(name))
    const as = (name: string) => ({ region: REGION, credentials: credentials.get(name) })
    const { Environment: environment } = await configurationOf('deliver-webhook')
    const { granted, refused } = probesOf(as, environment?.Variables?.[ENV.sealKey] ?? '')
    for (const [what, call] of granted) {
      const said = await call().then(() => 'answered', errorName)
      expect(said === 'answered', `${what} was refused: ${said}`)
    }
    for (const [what, call] of refused) {
      const said = await call().then(() => 'answered', errorName)
      expect(/AccessDenied/.test(said), `${what} was not refused: ${said}`)
    }
  })
}

/**
 * The credentials that MiniStack gave a function that has run. They are made of the names of its
 * role and of what was invoked first: the version, by its proof, or the function itself.
 */
async function credentialsOf(name: string) {
  const { FunctionArn: unqualified = '', Role: role = '' } = await configurationOf(name)
  const FunctionName = `${STACK}-${name}`
  // An operator's function has no alias.
  const { FunctionVersion: version = '' } = await awsClients(REGION)
    .lambda.send(new GetAliasCommand({ FunctionName, Name: LIVE_ALIAS }))
    .catch(() => ({ FunctionVersion: undefined }))
  for (const qualifier of [version, LIVE_ALIAS, '$LATEST', '']) {
    const digest = sha256(`${unqualified}${qualifier && `:${qualifier}`}:${role}`)
    const credentials = {
      accessKeyId: `ASIA${digest.slice(0, 16).toUpperCase()}`,
      secretAccessKey: sha256(`secret:${digest}`),
      sessionToken: sha256(`token:${digest}`),
    }
    const client = new STSClient({ region: REGION, credentials })
    if (await client.send(new GetCallerIdentityCommand({})).catch(() => undefined))
      return credentials
  }
  throw new Error(`${name} has not run, so it has no credentials`)
}

function configurationOf(name: string) {
  return awsClients(REGION).lambda.send(
    new GetFunctionConfigurationCommand({ FunctionName: `${STACK}-${name}` }),
  )
}

function sha256(text: string) {
  return createHash('sha256').update(text).digest('hex')
}

const TableName = RESTORED

const NONE = { clientId: 'none', endpointId: 'none' }
const PAYMENT = key('PAYMENT#none')
const EVENT = key('EVENT#payment#none')
const CALLER = [key('APIKEY#none'), key('CLIENT#none')]
const ONLY_URL = { ProjectionExpression: '#pk, #url', Select: 'SPECIFIC_ATTRIBUTES' as const }

const ofIndex = new dynamodb.QueryCommand({
  TableName,
  IndexName: 'by-owner',
  KeyConditionExpression: 'owner = :owner',
  ExpressionAttributeValues: { ':owner': { S: 'none' } },
})
const check = { TableName, Key: PAYMENT, ConditionExpression: 'attribute_not_exists(pk)' }
const checked = new dynamodb.TransactWriteItemsCommand({
  TransactItems: [{ ConditionCheck: check }],
})
const ownBytes = new dynamodb.PutItemCommand({ TableName, Item: key('TEST#none') })
const intoQueue = new SendMessageCommand({
  QueueUrl: `${ENDPOINT}/${ACCOUNT}/${STACK}-webhooks`,
  MessageBody: '{}',
})
const ofCallback = new GetSecretValueCommand({ SecretId: callbackSecretName('dev') })

/** The allowed calls show that the credentials are right. */
function probesOf(
  as: (name: string) => DynamoDBClientConfig & { readonly region: string },
  KeyId: string,
) {
  const reader = new DynamoDBClient(as('api-get-payment'))
  const worker = new DynamoDBClient(as('deliver-webhook'))
  const announcer = new DynamoDBClient(as('receive-provider-callback'))
  const sealer = new KMSClient(as('register-endpoint'))
  const seal = (stage: string) => {
    const EncryptionContext = sealContext(stage, NONE)
    return new EncryptCommand({ KeyId, EncryptionContext, Plaintext: Buffer.from('x') })
  }

  return {
    granted: [
      ['its own kind of item', () => reader.send(get(PAYMENT))],
      ['the fields it may read', () => worker.send(get(EVENT, some('pk', 'body')))],
      ['a key with its client, by their fields', () => reader.send(batch(CALLER, some('name')))],
      ['the fields it may query', () => announcer.send(endpoints(ONLY_URL))],
      ['sealing', () => sealer.send(seal('dev'))],
    ],
    refused: [
      ['an item of another kind', () => reader.send(get(key('ENDPOINTS#none')))],
      ['a whole client', () => reader.send(batch(CALLER))],
      ['the bank details of a client', () => reader.send(batch(CALLER, some('name', 'bank')))],
      [
        'one of another kind among its own',
        () => reader.send(batch([...CALLER, PAYMENT], some('name'))),
      ],
      ['all there is', () => reader.send(new dynamodb.ScanCommand({ TableName }))],
      ['an index', () => reader.send(ofIndex)],

      ['a step of a transaction', () => reader.send(checked)],
      [
        'a field beside those it may read',
        () => worker.send(get(EVENT, some('pk', 'body', 'listed_at'))),
      ],
      ['all fields where it may read some', () => worker.send(get(EVENT))],

      ['the sealed secrets of endpoints', () => announcer.send(endpoints())],
      [
        'an attribute that it may not change',
        () => announcer.send(change(PAYMENT, 'status', 'owner')),
      ],
      [
        'an update that returns what it may not read',
        () => worker.send(change(key('ENDPOINTS#none'), 'slow_since')),
      ],
      ['a delivery with bytes of its own', () => announcer.send(ownBytes)],

      ['sealing for another stage', () => sealer.send(seal('prod'))],

      ['a queue', () => new SQSClient(as('api-get-payment')).send(intoQueue)],
      ['a secret', () => new SecretsManagerClient(as('deliver-webhook')).send(ofCallback)],
    ],
  } as const
}

function get(Key: typeof PAYMENT, more: object = {}) {
  return new dynamodb.GetItemCommand({ TableName, Key, ...more })
}

function key(pk: string) {
  return { pk: { S: pk }, sk: { S: 'none' } }
}

function some(...names: readonly string[]) {
  return {
    ProjectionExpression: names.map((_, at) => `#n${at}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, at) => [`#n${at}`, name])),
  }
}

function change(Key: typeof PAYMENT, ...names: readonly string[]) {
  return new dynamodb.UpdateItemCommand({
    TableName,
    Key,
    UpdateExpression: `REMOVE ${names.map((name) => `#${name}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ReturnValues: 'ALL_NEW',
  })
}

function endpoints(more: Partial<dynamodb.QueryCommandInput> = {}) {
  return new dynamodb.QueryCommand({
    TableName,
    KeyConditionExpression: '#pk = :pk',
    ExpressionAttributeNames: { '#pk': 'pk', '#url': 'url' },
    ExpressionAttributeValues: { ':pk': { S: 'ENDPOINTS#none' } },
    ...more,
  })
}

function batch(Keys: (typeof PAYMENT)[], more: object = {}) {
  return new dynamodb.BatchGetItemCommand({ RequestItems: { [TableName]: { Keys, ...more } } })
}
