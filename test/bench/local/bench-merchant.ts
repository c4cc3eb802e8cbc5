import * as v from 'valibot'
import type { HttpAnswer, HttpCaller } from './http-caller.ts'
import type { Program } from './start-program.ts'

const Acted = v.object({ status: v.literal(200), body: v.looseObject({}) })

/** Does what an operator does at a gateway that runs here; throws when it is refused. */
export const act = async ({ call }: HttpCaller, gateway: Program, action: string, payload: object) => {
  const url = `${gateway.lambda}/2015-03-31/functions/gateway-local-${action}/invocations`
  const { text } = await call({ method: 'POST', url, body: JSON.stringify({ operator: 'bench', ...payload }) })
  return v.parse(Acted, JSON.parse(text), { message: `${action} answered ${text}` }).body
}

export type BenchMerchant = {
  readonly headers: Record<string, string>
  readonly clientId: string
  readonly endpointIds: readonly string[]
}

type MerchantOptions = { readonly endpointUrls?: readonly string[]; readonly rateLimitPerSecond?: number }

/** A client of its own with a key and its endpoints. */
export const addMerchant = async (
  caller: HttpCaller,
  gateway: Program,
  { endpointUrls = [], rateLimitPerSecond }: MerchantOptions = {},
): Promise<BenchMerchant> => {
  const limit = rateLimitPerSecond === undefined ? {} : { rate_limit_per_second: rateLimitPerSecond }
  const client = await act(caller, gateway, 'create-client', { name: 'Bench', ...limit })
  const client_id = String(client['client_id'])
  const { api_key } = await act(caller, gateway, 'issue-api-key', { client_id })
  const endpointIds: string[] = []
  for (const url of endpointUrls) {
    const made = await act(caller, gateway, 'register-endpoint', { client_id, url, event_types: ['*'] })
    endpointIds.push(String(made['endpoint_id']))
  }
  return {
    clientId: client_id,
    endpointIds,
    headers: { authorization: `Bearer ${String(api_key)}`, 'content-type': 'application/json' },
  }
}

/** The answer's text, when it is the answer that was wanted: figures of refusals would be too good. */
export const expectStatus = (status: number, answer: HttpAnswer): string => {
  if (answer.status !== status) throw new Error(`${status} was wanted, ${answer.status} came: ${answer.text}`)
  return answer.text
}
