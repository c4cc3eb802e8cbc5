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

/**
 * The listeners of a world, by what they are called with. Rules, promises, situations and scenes
 * add themselves.
 */
export function createListeners() {
  return {
    onChange: [] as ((change: TableChange) => void)[],
    onWritten: [] as ((changes: readonly TableChange[]) => void)[],
    /** A step whose condition refused a write, and the item that failed it. */
    onRefused: [] as ((step: Step, was: StoredItem | undefined) => void)[],
    /**
     * The start of a process, and its end: its handler has returned or thrown, or it was killed.
     */
    onStarted: [] as ((process: Process, event: unknown) => void)[],
    onEnded: [] as ((process: Process, how: 'done' | 'failed' | 'died') => void)[],
    onOvertaken: [] as ((process: Process, keys: readonly Key[]) => void)[],
    onFault: [] as ((fault: keyof Faults) => void)[],
    /** A call to the provider before it leaves, and its answer when the process has it. */
    onAsked: [] as ((process: Process, method: string, path: string, body: unknown) => void)[],
    onAnswered: [] as ((process: Process, answer: ProviderAnswer) => void)[],
    onSent: [] as ((queue: QueueName, message: QueueMessage, process: Process) => void)[],
    onHandedOut: [] as ((queue: QueueName, messages: readonly ReceivedMessage[]) => void)[],
    onError: [] as ((process: Process, error: unknown) => void)[],
    onPost: [] as ((request: WebhookRequest, process: Process) => void)[],
    onAlerted: [] as ((alert: Alert, process: Process) => void)[],
    onCallback: [] as ((body: string, token: string | undefined, status: number) => void)[],
  }
}
