import * as v from 'valibot'
import { AboutSchema } from './console/console-call.ts'
import type { FunctionHost } from './functions/function-host.ts'
import { readJsonFile, writeJsonFile } from './process/json-file.ts'

const DemoClientSchema = v.object({
  ...AboutSchema.entries.client.entries,
  signing_secret: v.string(),
})

/** The start prints this merchant, whose endpoint is the sample inbox. */
export type DemoClient = v.InferOutput<typeof DemoClientSchema>

const OPERATOR = 'local gateway'

const Reply = v.object({ status: v.number(), body: v.unknown() })
const RegisteredEndpoint = v.pick(DemoClientSchema, ['endpoint_id', 'signing_secret'])

type SeedOptions = {
  readonly host: Pick<FunctionHost, 'byName'>
  readonly inboxUrl: string
  /** Only the file's owner may read the key and the secret. */
  readonly file?: string
}

/**
 * Creates the client, or takes the one of the data directory, whose endpoint is registered anew
 * when the inbox has another port. After a crash half-way, the next start creates another client.
 */
export async function seedDemoClient({ host, inboxUrl, file }: SeedOptions) {
  const endpointUrl = `${inboxUrl}/hooks`
  const storedClient = file === undefined ? undefined : readJsonFile(file, DemoClientSchema)
  const reply =
    storedClient && (await invoke(host, 'get-client', { client_id: storedClient.client_id }))
  const knownClient = reply?.status === 200 ? storedClient : undefined
  if (knownClient?.endpoint_url === endpointUrl) return knownClient

  const client = knownClient ?? (await newClient(host))
  const order = { client_id: client.client_id, url: endpointUrl, event_types: ['*'] }
  const demo: DemoClient = {
    client_id: client.client_id,
    api_key: client.api_key,
    endpoint_url: endpointUrl,
    ...(await act(host, 'register-endpoint', order, RegisteredEndpoint)),
  }
  if (file !== undefined) writeJsonFile(file, demo)
  // The old endpoint goes last, so that the client always has an endpoint.
  if (knownClient) {
    await act(
      host,
      'delete-endpoint',
      { client_id: knownClient.client_id, endpoint_id: knownClient.endpoint_id },
      v.unknown(),
    )
  }
  return demo
}

async function invoke(host: SeedOptions['host'], action: string, payload: object) {
  const target = host.byName(`gateway-local-${action}`)
  if (!target) throw new Error(`the manifest has no ${action}`)
  return v.parse(Reply, await target.invoke(payload))
}

async function newClient(host: SeedOptions['host']) {
  const bank = exampleBank('PT Demo Merchant')
  const merchant = { name: 'Demo Merchant', settlement_floor_minor: 10_000, bank }
  const { client_id } = await act(
    host,
    'create-client',
    merchant,
    v.object({ client_id: v.string() }),
  )
  const { api_key } = await act(
    host,
    'issue-api-key',
    { client_id },
    v.object({ api_key: v.string() }),
  )
  return { client_id, api_key }
}

export function exampleBank(holder: string) {
  return { bank_name: 'BCA', bank_account_no: '1234567890', bank_account_name: holder }
}

/** Throws with the action and the status if the action is refused. */
async function act<const Schema extends v.GenericSchema>(
  host: SeedOptions['host'],
  action: string,
  payload: object,
  answer: Schema,
) {
  const reply = await invoke(host, action, { operator: OPERATOR, ...payload })
  if (reply.status !== 200)
    throw new Error(`no demo client: ${action} answered ${reply.status}; start with --verbose`)
  return v.parse(answer, reply.body)
}
