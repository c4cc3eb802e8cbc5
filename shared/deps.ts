import type { Alerts } from './alerts.ts'
import type { Log } from './log.ts'
import type { Provider } from './provider/provider.ts'
import type { Queues } from './queues.ts'
import type { ResolveHost } from './resolve-host.ts'
import type { Sealer, Secrets } from './secrets.ts'
import type { SendWebhook } from './send-webhook.ts'
import type { StageSettings } from './stage-settings.ts'
import type { Table } from './table/table.ts'
import type { Timestamp } from './time.ts'

/** Everything a use case may touch outside itself. Functions take it first, narrowed to what they use. */
export type Deps = {
  readonly stage: StageSettings
  readonly table: Table
  readonly provider: Provider
  readonly queues: Queues
  readonly alerts: Alerts
  readonly secrets: Secrets
  readonly sealer: Sealer
  readonly sendWebhook: SendWebhook
  /** DNS, for checking where a webhook's URL leads. */
  readonly resolveHost: ResolveHost
  readonly log: Log
  /** The wall clock. */
  readonly now: () => Timestamp
  /** The time of day of everybody else, in milliseconds since the epoch: no jump of a local gateway's clock is in it. */
  readonly realNowMs: () => number
  /** A clock for durations, in milliseconds from an arbitrary start; it never jumps. */
  readonly monotonicMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** A random UUID. */
  readonly newId: () => string
  /** Uniform in [0, 1), for jitter. */
  readonly random: () => number
  /** Cryptographically strong bytes. */
  readonly randomBytes: (length: number) => Buffer
  /** Starts what nobody waits for and what may be lost; absent where nothing of the kind is to be done. */
  readonly aside?: (work: () => Promise<unknown>) => void
  /** Of an operator's action alone. */
  readonly invocation?: Invocation
}

/** What is enough for stores, and for what only they are needed for: the table, and the time that is written. */
export type StoreDeps = Pick<Deps, 'table' | 'now'>

/** An operator's call: by its id the account's trail knows who made it. */
export type Invocation = {
  readonly requestId: string
  /** Is told of every change that was made, with its record. */
  readonly recorded: (record: { readonly operator: string; readonly at: Timestamp }) => void
}
