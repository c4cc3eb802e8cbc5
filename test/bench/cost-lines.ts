import { isHttp } from '../../functions/function-spec.ts'
import { CACHE_MS, UNSEALED_MS } from '../../shared/runtime/aws/kept-secrets.ts'
import { MINUTE_MS } from '../../shared/time.ts'
import { ACCESS_LINE_BYTES, ASSUMPTIONS } from './assumptions.ts'
import { type Flow, specOf } from './metered-world.ts'
import { PRICES, type Prices } from './prices.ts'

export type Usage = Readonly<Partial<Prices>>

export type CostLine = { readonly component: string; readonly basis: string; readonly usage: Usage }

export const MILLION = 1_000_000
export const BYTES_PER_GB = 1_000_000_000

export function usageOf({ functionName, invocations, messages, ...flow }: Flow) {
  const spec = specOf(functionName)
  const secretCalls = (invocations * spec.secrets.length) / sharing(CACHE_MS)
  const unseals = spec.endpointSecrets === 'unseal' ? invocations / sharing(UNSEALED_MS) : 0
  const requests = isHttp(spec) ? invocations : 0
  const requestBytes = requests * ACCESS_LINE_BYTES
  return {
    dynamodbReadMillion: flow.reads,
    dynamodbWriteMillion: flow.writes,
    lambdaRequestMillion: invocations,
    lambdaGbSecond:
      invocations * (ASSUMPTIONS.billedMs[functionName] / 1_000) * (spec.memoryMb / 1_024),
    httpApiRequestMillion: requests,
    frontRequestMillion: requests,
    frontWafRequestMillion: requests,
    // Each message is sent, received and deleted.
    sqsRequestMillion: 3 * messages,
    sqsFairMillion: messages,
    // Each request is compared with the front's secret too. AWS's own key encrypts that secret, for
    // free.
    secretCallMillion: secretCalls + requests / sharing(CACHE_MS),
    kmsRequestMillion: secretCalls + unseals,
    logGb: (flow.logBytes + requestBytes) / BYTES_PER_GB,
  }
}

export function sharing(keptMs: number) {
  return (keptMs / MINUTE_MS) * ASSUMPTIONS.invocationsPerMinute
}

const NAMES = Object.keys(PRICES) as (keyof Prices)[]

export function total(usages: readonly (readonly [times: number, usage: Usage])[]): Usage {
  return Object.fromEntries(
    NAMES.map((name) => [name, sum(usages, ([times, usage]) => times * (usage[name] ?? 0))]),
  )
}

export function sum<Thing>(things: readonly Thing[], of: (thing: Thing) => number) {
  return things.reduce((all, thing) => all + of(thing), 0)
}

export function line(component: string, basis: string, usage: Usage, prices = ''): CostLine {
  const names = NAMES.filter((name) => name.startsWith(prices))
  if (names.length === 0) throw new Error(`no price begins with ${prices}`)
  return {
    component,
    basis,
    usage: Object.fromEntries(names.map((name) => [name, usage[name] ?? 0])),
  }
}

export function sumOf(lines: readonly CostLine[]) {
  return sum(lines, usdOf)
}

function usdOf({ usage }: Pick<CostLine, 'usage'>) {
  return sum(
    NAMES,
    (name) => ((usage[name] ?? 0) * PRICES[name]) / (name.endsWith('Million') ? MILLION : 1),
  )
}
