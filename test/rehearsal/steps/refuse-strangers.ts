import { createHash } from 'node:crypto'
import * as dynamodb from '@aws-sdk/client-dynamodb'
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { errorName } from '../../../infra/operate/check/run-check.ts'
import { callbackSecretName } from '../../../shared/secrets.ts'
import { ACCOUNT, ENDPOINT, REGION } from '../emulator.ts'
import { expect, type Rehearsal, STACK } from '../rehearsal.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The credentials that MiniStack hands to a function once it has run: made of its name and its role's. */
const credentialsOf = async (name: string) => {
  const asked = new GetFunctionConfigurationCommand({ FunctionName: `${STACK}-${name}` })
  const { FunctionArn: arn = '', Role: role = '' } = await awsClients(REGION).lambda.send(asked)
  const digest = sha256(`${arn}:${role}`)
  return {
    accessKeyId: `ASIA${digest.slice(0, 16).toUpperCase()}`,
    secretAccessKey: sha256(`secret:${digest}`),
    sessionToken: sha256(`token:${digest}`),
  }
}

const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'none' } })
const TableName = STACK

/** Calls beside a granted one, each as a role that may not make it; the granted one shows that the role is the right one. */
const probesOf = (as: (name: string) => DynamoDBClientConfig & { readonly region: string }) => {
  const reader = new DynamoDBClient(as('api-get-payment'))
  const worker = new DynamoDBClient(as('deliver-webhook'))
  const get = (client: DynamoDBClient, pk: string, more: object = {}) =>
    client.send(new dynamodb.GetItemCommand({ TableName, Key: key(pk), ...more }))
  const some = (...names: readonly string[]) => ({
    ProjectionExpression: names.map((_, at) => `#n${at}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, at) => [`#n${at}`, name])),
  })
  const checked = (pk: string) => ({
    ConditionCheck: { TableName, Key: key(pk), ConditionExpression: 'attribute_not_exists(pk)' },
  })
  return {
    granted: [
      ['its own kind of item', () => get(reader, 'PAYMENT#none')],
      ['the fields it may read', () => get(worker, 'PAYMENT#none', some('pk', 'body'))],
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
      ['a queue', () => new SQSClient(as('api-get-payment')).send(intoQueue)],
      ['a secret', () => new SecretsManagerClient(as('deliver-webhook')).send(ofCallback)],
    ],
  } as const
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
    const names = ['api-get-payment', 'deliver-webhook']
    const credentials = new Map<string, Awaited<ReturnType<typeof credentialsOf>>>()
    for (const name of names) credentials.set(name, await credentialsOf(name))
    const { granted, refused } = probesOf((name) => ({ region: REGION, credentials: credentials.get(name) }))
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
