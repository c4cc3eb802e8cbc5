import * as v from 'valibot'
import { type Timestamp, timestampOf } from '../../../../shared/time.ts'
import type { LocalLog } from '../../functions/local-log.ts'
import type { LocalClock } from '../../process/local-clock.ts'
import { counted, rupiah, type StoryLine, words } from './story-line.ts'

export type StorySources = {
  readonly clock: Pick<LocalClock, 'nowMs' | 'onJump'>
  readonly log: Pick<LocalLog, 'lines' | 'onLine'>
}

const KEPT_LINES = 1_000

/**
 * Describes the activity of this gateway in words, from its log. It reads no line before the first listener connects.
 * It then starts with the oldest line that the log keeps.
 */
export const startStory = ({ clock, log }: StorySources) => {
  const lines: StoryLine[] = []
  const listeners = new Set<(line: StoryLine) => void>()
  const ends: (() => void)[] = []

  const tell = (line: StoryLine | undefined) => {
    if (line === undefined) return
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
    for (const listener of listeners) listener(line)
  }

  const begin = () => {
    for (const line of log.lines()) tell(tellLogLine(line))
    ends.push(log.onLine((line) => tell(tellLogLine(line))))
    ends.push(clock.onJump(() => tell(jumpedTo(timestampOf(clock.nowMs())))))
  }

  return {
    /** Calls `listener` with the latest lines, then with every new one. Returns a function that removes it. */
    follow: (listener: (line: StoryLine) => void) => {
      if (ends.length === 0) begin()
      for (const line of lines) listener(line)
      listeners.add(listener)
      return (): void => void listeners.delete(listener)
    },
    close: (): void => {
      for (const end of ends) end()
    },
  }
}

export type Story = ReturnType<typeof startStory>

const jumpedTo = (at: Timestamp): StoryLine => ({ at, subject: 'clock', tone: 'plain', text: `jumped to ${at}` })

// Log codes use one field name with different types: the `status` of a request is a number.
const Text = v.fallback(v.optional(v.string()), undefined)
const Count = v.fallback(v.optional(v.number()), undefined)
const texts = <const Name extends string>(...names: readonly Name[]) => v.entriesFromList(names, Text)
const Line = v.object({
  timestamp: v.string(),
  message: v.string(),
  ...texts('operation', 'reason', 'outcome', 'action', 'code', 'function', 'error', 'error_name', 'endpoint_id'),
  ...texts('payment_id', 'settlement_id', 'suspense_id', 'balanced', 'method', 'channel', 'source', 'status'),
  ...texts('failure_reason', 'kind', 'cause'),
  ...v.entriesFromList(['http_status', 'duration_ms', 'attempt', 'deliveries', 'payments', 'net_minor'], Count),
  ...v.entriesFromList(['transactions', 'clients'], Count),
})
type Line = v.InferOutput<typeof Line>

type Told = Omit<StoryLine, 'at'>

const told = (subject: Told['subject'], tone: Told['tone'], text: string, id?: string): Told => ({
  subject,
  tone,
  ...(id !== undefined && { id }),
  text,
})

/** Actions that only read, by operators or by the console. The story leaves them out. */
const READS_ONLY = /^gateway-local-(get|list|find)-/

const ofOperator = ({ action = '' }: Line, tone: Told['tone'], otherwise = ''): Told | undefined =>
  READS_ONLY.test(action) ? undefined : told('operator', tone, action.replace(/^gateway-local-/, '') + otherwise)

const VERDICTS: ReadonlyMap<string | undefined, readonly [tone: Told['tone'], text: string]> = new Map([
  ['true', ['good', 'the books balance']],
  ['false', ['bad', 'the books do not balance']],
])
const UNDECIDED = ['plain', 'the audit could not decide whether the books balance'] as const

const ofPayment = (line: Line, tone: Told['tone'], text: string): Told => told('payment', tone, text, line.payment_id)

const ofSettlement = (line: Line, tone: Told['tone'], text: string): Told =>
  told('settlement', tone, text, line.settlement_id)

const channel = ({ channel: code, method = 'a channel' }: Line): string => code ?? method

const heard = ({ source = 'us' }: Line): string => `(heard by ${words(source)})`

const announced = ({ deliveries = 0 }: Line): string => `${counted(deliveries, 'webhook')} to send`

const SHORT_ID = 8

const endpoint = ({ endpoint_id: id = '' }: Line): string => `endpoint ${id.slice(0, SHORT_ID)}`

/** The result of a webhook attempt. */
const answered = (line: Line): string => {
  const answer = line.http_status === undefined ? (line.error ?? 'no answer') : `answered ${line.http_status}`
  return `${endpoint(line)}: ${answer} in ${line.duration_ms ?? 0} ms (attempt ${line.attempt ?? 1})`
}

const CREATE_FAILED = (line: Line) => ofPayment(line, 'bad', `could not be created: ${line.reason ?? 'unknown'}`)

/** The story leaves out read-only actions of operators, and runs without work. */
const TELLERS: ReadonlyMap<string, (line: Line) => Told | undefined> = new Map(
  Object.entries<(line: Line) => Told | undefined>({
    'payment.created': (line) => ofPayment(line, 'plain', `created, to be paid by ${channel(line)}`),
    'payment.create_failed': CREATE_FAILED,
    'payment.create_refused': CREATE_FAILED,
    'payment.succeeded': (line) =>
      ofPayment(line, 'good', `paid by ${channel(line)} ${heard(line)}; ${announced(line)}`),
    'payment.failed': (line) => {
      const reason = words(line.failure_reason ?? 'other')
      return ofPayment(line, 'bad', `failed: ${reason} ${heard(line)}; ${announced(line)}`)
    },
    'payment.expired': (line) => ofPayment(line, 'bad', `expired ${heard(line)}; ${announced(line)}`),
    'payment.cancelled': (line) => ofPayment(line, 'bad', `cancelled ${heard(line)}`),
    'delivery.succeeded': (line) => told('webhook', 'good', answered(line)),
    'delivery.failed': (line) => told('webhook', 'bad', answered(line)),
    'delivery.abandoned': (line) => told('webhook', 'bad', `${answered(line)}; the delivery was abandoned`),
    'delivery.skipped': (line) => told('webhook', 'bad', `${endpoint(line)} was skipped: it is disabled`),
    'delivery.not_sent': ({ deliveries = 0 }) =>
      told('webhook', 'bad', `messages of ${counted(deliveries, 'webhook')} were not sent; due work sends them`),
    'settlement.recorded': (line) => {
      const what = `${rupiah(line.net_minor ?? 0)} of ${counted(line.payments ?? 0, 'payment')}`
      return ofSettlement(line, 'good', `recorded: ${what} is to be paid out`)
    },
    'settlement.closed': (line) =>
      line.status === 'failed'
        ? ofSettlement(line, 'bad', 'its payout failed')
        : ofSettlement(line, 'good', 'its money is paid out'),
    'suspense.recorded': ({ kind = '', cause = '', suspense_id: id = '', payment_id: paymentId }) =>
      told('suspense', 'bad', `${kind} ${words(cause)} (${id})`, paymentId),
    'provider.call_failed': ({ operation = 'a call', reason = 'unknown' }) =>
      told('provider', 'bad', `${operation} failed: ${reason}`),
    'provider.call_refused': ({ operation = 'a call', code, reason = 'unknown' }) =>
      told('provider', 'bad', `${operation} was refused because of our request: ${code ?? reason}`),
    'callback.refused': () => told('callback', 'bad', 'refused: it had no valid token'),
    'callback.ignored': () => told('callback', 'plain', 'ignored: it does not concern this gateway'),
    'callback.deferred': ({ outcome = 'it is processed later', payment_id: id }) =>
      told('callback', 'plain', `deferred: ${outcome}`, id),
    'endpoint.slow': () => told('webhook', 'bad', 'the endpoint is slow: its webhooks use the slow lane'),
    'endpoint.answers_again': () => told('webhook', 'good', 'the endpoint answers again'),
    'sync.completed': ({ transactions = 0 }) =>
      transactions === 0 ? undefined : told('work', 'plain', `the provider’s transactions were read: ${transactions}`),
    'sweep.completed': ({ clients = 0 }) =>
      told('work', 'plain', `the daily sweep started settlements of ${counted(clients, 'merchant')}`),
    'settlement.waiting': () =>
      told('work', 'plain', 'no settlement yet: the eligible money is below the floor, or a fee is not final'),
    'audit.completed': ({ balanced }) => told('work', ...(VERDICTS.get(balanced) ?? UNDECIDED)),
    'operator.action': (line) => ofOperator(line, 'plain'),
    'operator.refused': (line) => ofOperator(line, 'bad', ` was refused: ${line.code ?? ''}`),
    'alert.published': ({ suspense_id: id }) =>
      told('alert', 'bad', `the operators were alerted${id === undefined ? '' : ` about ${id}`}`),
    'message.failed': ({ function: name = 'a worker' }) => told('work', 'bad', `${name} could not process a message`),
    'invocation.failed': ({ function: name = 'a function' }) => told('work', 'bad', `${name} failed`),
  }),
)

/** The story line of a log line; undefined for a log line that the story leaves out. */
export const tellLogLine = (json: string): StoryLine | undefined => {
  const line = v.parse(Line, JSON.parse(json))
  const one = TELLERS.get(line.message)?.(line)
  return one && { at: line.timestamp, ...one }
}
