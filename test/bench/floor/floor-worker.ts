import { createHmac, randomUUID } from 'node:crypto'
import { BatchGetItemCommand, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { DeleteMessageCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { deliveryKey, endpointKey, eventKey, type FloorMeans, raw } from './floor-calls.ts'

const SECRET = randomUUID()

/** What a message asks for: the delivery with its endpoint, the bytes, the claim, the webhook, and what became of it. */
const deliver = async (means: FloorMeans, { Body: id = '', ReceiptHandle }: Message): Promise<void> => {
  const { table, tableName: TableName, clientId, call, webhookUrl, sqs, queueUrl: QueueUrl } = means
  const Keys = [raw(deliveryKey(id)), raw(endpointKey(clientId))]
  await table.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys, ConsistentRead: true } } }))
  const { Item = {} } = await table.send(new GetItemCommand({ TableName, Key: raw(eventKey(id)) }))
  const body = String(unmarshall(Item)['body'])
  await table.send(
    new UpdateItemCommand({
      TableName,
      Key: raw(deliveryKey(id)),
      UpdateExpression: 'SET claim_token = :token',
      ConditionExpression: 'attribute_not_exists(claim_token)',
      ExpressionAttributeValues: raw({ ':token': randomUUID() }),
    }),
  )
  const signature = createHmac('sha256', SECRET).update(body).digest('hex')
  await call({ method: 'POST', url: webhookUrl, headers: { 'x-gateway-signature': signature }, body })
  await table.send(
    new UpdateItemCommand({ TableName, Key: raw(deliveryKey(id)), UpdateExpression: 'REMOVE claim_token, due_at' }),
  )
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
}

/** Works off the queue until it is gone. */
export const floorWorker = async (means: FloorMeans): Promise<void> => {
  const { sqs, queueUrl: QueueUrl } = means
  for (;;) {
    const asked = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20 })
    const { Messages = [] } = await sqs.send(asked)
    for (const message of Messages) void deliver(means, message)
  }
}
