import type { Log } from './log.ts'
import type { Memory } from './memory.ts'
import type { Provider } from './provider/provider.ts'
import type { Queues } from './queues.ts'
import type { Sealer, Secrets } from './secrets.ts'
import type { ResolveHost, SendWebhook } from './send-webhook.ts'
import type { StageSettings } from './stage-settings.ts'
import type { Table } from './table/table.ts'
import type { Timestamp } from './time.ts'

/** All external dependencies. A function takes those that it uses as its first parameter. */
export type Deps = {
  readonly stage: StageSettings
  readonly table: Table
  readonly provider: Provider
  readonly queues: Queues
  readonly alerts: Alerts
  readonly secrets: Secrets
  readonly sealer: Sealer
  readonly sendWebhook: SendWebhook
  /** DNS, to check the addresses of a webhook URL. */
  readonly resolveHost: ResolveHost
  readonly log: Log
  readonly memory: Memory
  readonly now: () => Timestamp
  /** Milliseconds since the epoch, without the jumps of a local gateway's clock. */
  readonly realNowMs: () => number
  /** A clock for durations: milliseconds from an arbitrary start, without jumps. */
  readonly monotonicMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly newId: () => string
  /** Uniform in [0, 1), for jitter. */
  readonly random: () => number
  readonly randomBytes: (length: number) => Buffer
  /** Starts work that may be lost. Absent if such work must not run. */
  readonly runInBackground?: (work: () => Promise<unknown>) => void
  /** Present only in an operator's action. */
  readonly invocation?: Invocation
}

export type TableDeps = Pick<Deps, 'table'>

/** What lists rows, and logs those that cannot be read. */
export type ListDeps = Pick<Deps, 'table' | 'log'>

export type StoreDeps = Pick<Deps, 'table' | 'now'>

/** What reads a client's entries. */
export type JournalDeps = Pick<Deps, 'table' | 'stage'>

/** An operator's call. The AWS account's trail shows, by the request id, who made the call. */
export type Invocation = {
  readonly requestId: string
  /** Called after every change, with its audit record. */
  readonly recorded: (record: { readonly operator: string; readonly at: Timestamp }) => void
}

export type Alert = {
  /** Part of the contract of the alert message. */
  readonly kind:
    | 'delivery.abandoned'
    | 'suspense.money'
    | 'suspense.finding'
    | 'suspense.case'
    | 'audit.imbalance'
    | 'client.access_changed'
    | 'client.bank_changed'
    | 'client.key_ends'
    | 'client.owes'
    | 'balance.gap'
    | 'payment.in_transit'
    | 'settlement.unpaid'
    | 'payout.changed'
    | 'payout.after_difference'
  readonly subject: string
  /** Names who is affected and which ids to check; no customer's data, no secrets. */
  readonly message: string
}

export type Alerts = { publish(alert: Alert): Promise<void> }
