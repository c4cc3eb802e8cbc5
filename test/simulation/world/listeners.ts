import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import type { Alert } from '../../../shared/deps.ts'
import type { HttpOutcome } from '../../../shared/provider/call-json.ts'
import type { QueueMessage, QueueName } from '../../../shared/queues.ts'
import type { WebhookRequest } from '../../../shared/send-webhook.ts'
import type { Key } from '../../../shared/table/keys.ts'
import type { Step } from '../../../shared/table/step.ts'
import type { Faults } from './faults.ts'
import type { Process } from './process.ts'
import type { ReceivedMessage } from './sim-queue.ts'

export type ProviderAnswer = {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly outcome: HttpOutcome
}

/** The listeners of a world: rules, promises, situations and scenes add themselves. */
export const createListeners = () => ({
  /** Told of every change of an item, at the moment it is made. */
  onChange: [] as ((change: TableChange) => void)[],
  /** Told of all changes that one write has made, of its items together. */
  onWritten: [] as ((changes: readonly TableChange[]) => void)[],
  /** Told of a condition that refused a write, and of the item that failed it. */
  onRefused: [] as ((step: Step, was: StoredItem | undefined) => void)[],
  /** Told when a process begins, and when its handler has come to an end or it was killed. */
  onStarted: [] as ((process: Process, event: unknown) => void)[],
  onEnded: [] as ((process: Process, how: 'done' | 'failed' | 'died') => void)[],
  /** Told of a process whose write is delayed, and of the keys that it writes. */
  onOvertaken: [] as ((process: Process, keys: readonly Key[]) => void)[],
  /** Called when a fault happens. */
  onFault: [] as ((fault: keyof Faults) => void)[],
  /** Told of a call to the provider before it leaves, and of its answer once the process has it. */
  onAsked: [] as ((process: Process, method: string, path: string, body: unknown) => void)[],
  onAnswered: [] as ((process: Process, answer: ProviderAnswer) => void)[],
  /** Told of each message that is sent, with its content and its sender. */
  onSent: [] as ((queue: QueueName, message: QueueMessage, process: Process) => void)[],
  /** Told of messages that a worker is given. */
  onHandedOut: [] as ((queue: QueueName, messages: readonly ReceivedMessage[]) => void)[],
  /** Told of an error that a process writes into its log. */
  onError: [] as ((process: Process, error: unknown) => void)[],
  /** Told of a line that a process writes into its log. */
  onLine: [] as ((process: Process, code: string, fields: Readonly<Record<string, unknown>>) => void)[],
  /** Told of a webhook before it leaves. */
  onPost: [] as ((request: WebhookRequest, process: Process) => void)[],
  /** Told when the operators were told of something, and by whom. */
  onAlerted: [] as ((alert: Alert, process: Process) => void)[],
  /** Told of a callback of the provider's, of the token it came with, and of the status that it was answered with. */
  onCallback: [] as ((body: string, token: string | undefined, status: number) => void)[],
})
