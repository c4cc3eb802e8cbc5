import { randomUUID } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { BatchGetCommand, DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { createTable } from '../../../infra/local/emulators/create-table.ts'
import { localAws, startDynamoDbLocal } from '../../../infra/local/emulators/dynamodb-local.ts'

const TABLE = 'bare-deliveries'
const BATCH = 10
const AT_ONCE = 5

/** What is stored of a delivery. */
const FIELDS = {
  delivery_id: randomUUID(),
  event_id: randomUUID(),
  event_type: 'payment.succeeded',
  client_id: randomUUID(),
  endpoint_id: randomUUID(),
  payment_id: randomUUID(),
  url: 'https://merchant.example/hooks/payments',
  state: 'scheduled',
  attempts: 0,
  round_start: 0,
  resends: 0,
  next_attempt_at: '2026-11-20T00:00:00.000Z',
  created_at: '2026-11-20T00:00:00.000Z',
  fired_at: '2026-11-20T00:00:00.000Z',
} as const

const change = (pk: string) => ({
  TableName: TABLE,
  Key: keyOf(pk),
  UpdateExpression: 'SET #token = :token, #until = :until',
  ConditionExpression: '#state = :state AND #attempts = :attempts',
  ExpressionAttributeNames: {
    '#token': 'claim_token',
    '#until': 'claimed_until',
    '#state': 'state',
    '#attempts': 'attempts',
  },
  ExpressionAttributeValues: {
    ':token': pk,
    ':until': FIELDS.created_at,
    ':state': FIELDS.state,
    ':attempts': FIELDS.attempts,
  },
  ReturnValues: 'ALL_NEW' as const,
})

const keyOf = (pk: string) => ({ pk, sk: 'DELIVERY' })

/** A put, a claim and a result for each, and one read of ten with their endpoints. */
const deliverTen = async (client: DynamoDBDocumentClient): Promise<void> => {
  const ids = Array.from({ length: BATCH }, () => randomUUID())
  const each = (send: (pk: string) => Promise<unknown>) => Promise.all(ids.map(send))
  await each((pk) =>
    client.send(
      new PutCommand({
        TableName: TABLE,
        Item: { ...keyOf(pk), ...FIELDS },
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    ),
  )
  const Keys = ids.flatMap((pk) => [keyOf(pk), keyOf(`endpoint of ${pk}`)])
  await client.send(new BatchGetCommand({ RequestItems: { [TABLE]: { Keys, ConsistentRead: true } } }))
  await each((pk) => client.send(new UpdateCommand(change(pk))))
  await each((pk) => client.send(new UpdateCommand(change(pk))))
}

/** The requests to the table that a delivery cannot do without, by the SDK's document client as it comes: their CPU is not ours. */
export const startBareDeliveries = async () => {
  const dynamodb = await startDynamoDbLocal()
  await createTable(dynamodb.endpoint, TABLE)
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(localAws(dynamodb.endpoint)))
  /** Milliseconds of a processor for each of so many deliveries. */
  const measure = async (deliveries: number): Promise<number> => {
    const from = process.cpuUsage()
    for (let done = 0; done < deliveries; done += BATCH * AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => deliverTen(client)))
    }
    const { user, system } = process.cpuUsage(from)
    return (user + system) / 1_000 / deliveries
  }
  const close = async () => {
    client.destroy()
    await dynamodb.close()
  }
  return { measure, close }
}
