import * as v from 'valibot'
import type { Bench } from './start-bench.ts'

const Acted = v.object({ status: v.literal(200), body: v.looseObject({}) })

/** Does what an operator does at a gateway that runs here; throws when it is refused. */
export const act = async ({ call, gateway }: Bench, action: string, payload: object) => {
  const url = `${gateway.lambda}/2015-03-31/functions/gateway-local-${action}/invocations`
  const { text } = await call({ method: 'POST', url, body: JSON.stringify({ operator: 'bench', ...payload }) })
  return v.parse(Acted, JSON.parse(text), { message: `${action} answered ${text}` }).body
}

export type BenchMerchant = {
  readonly headers: Record<string, string>
  readonly clientId: string
  readonly endpointId: string | undefined
}

/** A client of its own with a key, and with an endpoint if it has a URL. */
export const addMerchant = async (
  bench: Bench,
  { endpointUrl, ...limit }: { readonly endpointUrl?: string; readonly rate_limit_per_second?: number },
): Promise<BenchMerchant> => {
  const client = await act(bench, 'create-client', { name: 'Bench', ...limit })
  const client_id = String(client['client_id'])
  const { api_key } = await act(bench, 'issue-api-key', { client_id })
  const endpoint = { client_id, url: endpointUrl, event_types: ['*'] }
  const made = endpointUrl === undefined ? {} : await act(bench, 'register-endpoint', endpoint)
  return {
    clientId: client_id,
    endpointId: Object(made)['endpoint_id'],
    headers: { authorization: `Bearer ${String(api_key)}`, 'content-type': 'application/json' },
  }
}
