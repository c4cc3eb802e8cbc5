import { LOCAL_STAGE } from '../../../infra/local/functions/local-deps.ts'
import { startLocalCloud } from '../../../infra/local/local-cloud.ts'

/**
 * The provider's simulator takes as many calls as come: its published quota is no part of what is
 * measured here.
 */
Object.assign(LOCAL_STAGE, { providerCallsPerMinute: 1_000_000 })

/**
 * The local gateway as `npm start` runs it, which also sends its parent the address of its table;
 * it ends with its parent.
 */
const { urls, table, close } = await startLocalCloud({ port: 0, table: 'dynamodb' })
process.once('disconnect', () => void close().finally(() => process.exit()))
process.send?.({ ...urls, table: table.dynamoDb })
