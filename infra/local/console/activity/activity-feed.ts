import * as v from 'valibot'
import { type Timestamp, timestampOf } from '../../../../shared/time.ts'
import type { LocalLog } from '../../functions/local-log.ts'
import type { LocalClock } from '../../process/local-clock.ts'
import { type ActivityLine, countOf, rupiah, words } from './activity-line.ts'

type ActivitySources = {
  readonly clock: Pick<LocalClock, 'nowMs' | 'onJump'>
  readonly log: Pick<LocalLog, 'lines' | 'onLine'>
}

const KEPT_LINES = 1_000

/**
 * Describes the activity of this gateway in words, from the oldest line that its log keeps. Reads
 * no line before the first listener connects.
 */
export function startActivityFeed({ clock, log }: ActivitySources) {
  const lines: ActivityLine[] = []
  const listeners = new Set<(line: ActivityLine) => void>()
  const ends: (() => void)[] = []

  const add = (activity: ActivityLine | undefined) => {
    if (activity === undefined) return
    lines.push(activity)
    if (lines.length > KEPT_LINES) lines.shift()
    for (const listener of listeners) listener(activity)
  }

  const begin = () => {
    for (const json of log.lines()) add(describeLogLine(json))
    ends.push(log.onLine((json) => add(describeLogLine(json))))
    ends.push(clock.onJump(() => add(clockJumpLine(timestampOf(clock.nowMs())))))
  }

  return {
    /**
     * Calls `listener` with the latest lines, then with every new line. Returns a function that
     * removes it.
     */
    follow: (listener: (line: ActivityLine) => void) => {
      if (ends.length === 0) begin()
      for (const activity of lines) listener(activity)
      listeners.add(listener)
      return (): void => void listeners.delete(listener)
    },
    close: () => {
      for (const end of ends) end()
    },
  }
}

type Tone = ActivityLine['tone']

type Description = Omit<ActivityLine, 'at'>

function line(subject: Description['subject'], tone: Tone, text: string, id?: string): Description {
  return { subject, tone, ...(id !== undefined && { id }), text }
}

const Count = v.fallback(v.optional(v.number()), undefined)

// Log codes use one field name with different types: the `status` of a request is a number.
const Text = v.fallback(v.optional(v.string()), undefined)

const LogLine = v.object({
  timestamp: v.string(),
  message: v.string(),
  ...v.entriesFromList(
    [
      'operation',
      'reason',
      'outcome',
      'action',
      'code',
      'function',
      'error',
      'endpoint_id',
      'payment_id',
      'settlement_id',
      'suspense_id',
      'audit_of',
      'method',
      'channel',
      'channel_code',
      'source',
      'status',
      'failure_reason',
      'kind',
      'cause',
    ],
    Text,
  ),
  ...v.entriesFromList(
    [
      'http_status',
      'duration_ms',
      'attempt',
      'deliveries',
      'payments',
      'net_minor',
      'transactions',
      'clients',
      'differences',
    ],
    Count,
  ),
  dry_run: v.optional(v.boolean(), false),
})
type LogLine = v.InferOutput<typeof LogLine>

const READS_ONLY = /^gateway-local-(get|list|find)-/

const SHORT_ID = 8

/** Leaves out read-only actions of operators, and runs without work. */
const DESCRIPTIONS = new Map(
  Object.entries<(log: LogLine) => Description | undefined>({
    'payment.created': (log) => paymentLine(log, 'plain', `created, to be paid by ${channel(log)}`),
    'payment.create_failed': createFailureLine,
    'payment.create_refused': createFailureLine,
    'payment.create_not_activated': createFailureLine,
    'payment.succeeded': (log) =>
      paymentLine(
        log,
        'good',
        `paid by ${channel(log)} ${reportSource(log)}; ${webhooksToSend(log)}`,
      ),
    'payment.failed': (log) => {
      const reason = words(log.failure_reason ?? 'other')
      return paymentLine(
        log,
        'bad',
        `failed: ${reason} ${reportSource(log)}; ${webhooksToSend(log)}`,
      )
    },
    'payment.expired': (log) =>
      paymentLine(log, 'bad', `expired ${reportSource(log)}; ${webhooksToSend(log)}`),
    'payment.cancelled': (log) => paymentLine(log, 'bad', `cancelled ${reportSource(log)}`),
    'delivery.succeeded': (log) => line('webhook', 'good', attemptResult(log)),
    'delivery.failed': (log) => line('webhook', 'bad', attemptResult(log)),
    'delivery.abandoned': (log) =>
      line('webhook', 'bad', `${attemptResult(log)}; the delivery was abandoned`),
    'delivery.skipped': (log) =>
      line('webhook', 'bad', `${endpoint(log)} skipped: disabled, deleted or event lost`),
    'delivery.not_sent': ({ deliveries = 0 }) =>
      line(
        'webhook',
        'bad',
        `messages of ${countOf(deliveries, 'webhook')} were not sent; due work sends them`,
      ),
    'settlement.recorded': (log) => {
      const total = `${rupiah(log.net_minor ?? 0)} of ${countOf(log.payments ?? 0, 'payment')}`
      return settlementLine(log, 'good', `recorded: ${total} is to be paid out`)
    },
    'settlement.closed': (log) =>
      log.status === 'failed'
        ? settlementLine(log, 'bad', 'its payout failed')
        : settlementLine(log, 'good', 'its money is paid out'),
    'suspense.recorded': ({ kind = '', cause = '', suspense_id: id = '', payment_id: paymentId }) =>
      line('suspense', 'bad', `${kind} ${words(cause)} (${id})`, paymentId),
    'provider.call_failed': ({ operation = 'a call', reason = 'unknown' }) =>
      line('provider', 'bad', `${operation} failed: ${reason}`),
    'provider.call_refused': ({ operation = 'a call', code, reason = 'unknown' }) =>
      line('provider', 'bad', `${operation} was refused because of our request: ${code ?? reason}`),
    'callback.refused': () => line('callback', 'bad', 'refused: it had no valid token'),
    'callback.ignored': () => line('callback', 'plain', 'ignored: it changes nothing here'),
    'callback.deferred': ({ outcome = 'it is processed later', payment_id: id }) =>
      line('callback', 'plain', `deferred: ${outcome}`, id),
    'endpoint.slow': () =>
      line('webhook', 'bad', 'the endpoint is slow: its webhooks use the slow lane'),
    'endpoint.answers_again': () => line('webhook', 'good', 'the endpoint answers again'),
    'sync.completed': ({ transactions = 0 }) =>
      transactions === 0
        ? undefined
        : line('work', 'plain', `the provider’s transactions were read: ${transactions}`),
    'sweep.completed': ({ clients = 0 }) =>
      line(
        'work',
        'plain',
        `the daily sweep started settlements of ${countOf(clients, 'merchant')}`,
      ),
    'settlement.waiting': () =>
      line(
        'work',
        'plain',
        'no settlement yet: the eligible money is below the floor, or a fee is not final',
      ),
    'audit.completed': ({ audit_of: audited }) =>
      line(
        'work',
        'plain',
        `the audit of ${audited === 'client' ? 'a merchant' : 'the house'} ended`,
      ),
    'audit.imbalance': ({ differences = 0 }) =>
      line('work', 'bad', `the books do not balance: ${countOf(differences, 'difference')}`),
    'operator.action': (log) => operatorLine(log, 'plain'),
    'operator.refused': (log) => operatorLine(log, 'bad', ` was refused: ${log.code ?? ''}`),
    'alert.published': ({ suspense_id: id }) =>
      line('alert', 'bad', `the operators were alerted${id === undefined ? '' : ` about ${id}`}`),
    'message.failed': ({ function: name = 'a worker' }) =>
      line('work', 'bad', `${name} could not process a message`),
    'invocation.failed': ({ function: name = 'a function' }) =>
      line('work', 'bad', `${name} failed`),
  }),
)

/** Undefined for a log line that the feed leaves out. */
function describeLogLine(json: string): ActivityLine | undefined {
  const log = v.parse(LogLine, JSON.parse(json))
  const description = DESCRIPTIONS.get(log.message)?.(log)
  return description && { at: log.timestamp, ...description }
}

function paymentLine({ payment_id: id }: LogLine, tone: Tone, text: string): Description {
  return line('payment', tone, text, id)
}

function channel({ channel: code, channel_code, method = 'a channel' }: LogLine) {
  return channel_code ?? code ?? method
}

function createFailureLine(log: LogLine) {
  return paymentLine(log, 'bad', `could not be created: ${log.reason ?? 'unknown'}`)
}

function reportSource({ source = 'the gateway' }: LogLine) {
  return `(reported by ${words(source)})`
}

function webhooksToSend({ deliveries = 0 }: LogLine) {
  return `${countOf(deliveries, 'webhook')} to send`
}

function attemptResult(log: LogLine) {
  const answer =
    log.http_status === undefined ? (log.error ?? 'no answer') : `answered ${log.http_status}`
  return `${endpoint(log)}: ${answer} in ${log.duration_ms ?? 0} ms (attempt ${log.attempt ?? 1})`
}

function endpoint({ endpoint_id: id = '' }: LogLine) {
  return `endpoint ${id.slice(0, SHORT_ID)}`
}

function settlementLine({ settlement_id: id }: LogLine, tone: Tone, text: string): Description {
  return line('settlement', tone, text, id)
}

function operatorLine({ action = '', dry_run: isDry }: LogLine, tone: Tone, result = '') {
  return isDry || READS_ONLY.test(action)
    ? undefined
    : line('operator', tone, action.replace(/^gateway-local-/, '') + result)
}

export type ActivityFeed = ReturnType<typeof startActivityFeed>

function clockJumpLine(at: Timestamp): ActivityLine {
  return { at, subject: 'clock', tone: 'plain', text: `jumped to ${at}` }
}
