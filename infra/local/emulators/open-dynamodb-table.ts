import { Agent } from 'node:http'
import { dynamoDbClient, dynamoDbRequests } from '../../../shared/runtime/aws/dynamodb-table.ts'
import type { DataDirectory } from '../process/data-directory.ts'
import { removeProcessRecord } from '../process/process-record.ts'
import { createTable } from './create-table.ts'
import { type DynamoDbLocal, localAws } from './dynamodb-local.ts'
import type { LocalTable } from './local-table.ts'

/** One process serves all functions here, and DynamoDB Local under load answers more slowly than DynamoDB. */
const TABLE_HTTP = {
  connectionTimeout: 5_000,
  requestTimeout: 10_000,
  throwOnRequestTimeout: true,
  socketAcquisitionWarningTimeout: 60_000,
}
const TABLE_SOCKETS = 200

type TableOptions = { readonly dynamoDb: DynamoDbLocal; readonly data: DataDirectory | undefined }

/** Opens the gateway's table in a running DynamoDB Local. Closing the table ends DynamoDB Local. */
export const openDynamoDbTable = async (name: string, { dynamoDb, data }: TableOptions): Promise<LocalTable> => {
  const { endpoint, pid, exited } = dynamoDb
  const httpAgent = new Agent({ keepAlive: true, maxSockets: TABLE_SOCKETS })
  const aws = localAws(endpoint)
  const client = dynamoDbClient({ ...aws, requestHandler: { ...TABLE_HTTP, httpAgent } })
  const close = async () => {
    client.destroy()
    httpAgent.destroy()
    await dynamoDb.close()
    if (data) removeProcessRecord(data.tableProcess)
  }
  try {
    await createTable(endpoint, name)
  } catch (error) {
    await close()
    throw error
  }
  return {
    requests: dynamoDbRequests({ client, name }),
    place: `${name} at ${aws.endpoint}   (DynamoDB Local, process ${pid}; access key ${aws.credentials.accessKeyId})`,
    dynamoDb: { endpoint, name, pid },
    exited,
    close,
  }
}
