import * as v from 'valibot'
import { counted, rupiah, type StoryLine } from './story-line.ts'

// Log codes use one field name with different types: the `status` of a request is a number.
const Text = v.fallback(v.optional(v.string()), undefined)
const Count = v.fallback(v.optional(v.number()), undefined)
const Line = v.object({
  timestamp: v.string(),
  message: v.string(),
  operation: Text,
  reason: Text,
  outcome: Text,
  action: Text,
  code: Text,
  function: Text,
  error_name: Text,
  endpoint_id: Text,
  payment_id: Text,
  settlement_id: Text,
  suspense_id: Text,
  balanced: Text,
  method: Text,
  channel: Text,
  source: Text,
  status: Text,
  failure_reason: Text,
  kind: Text,
  cause: Text,
  error: Text,
  http_status: Count,
  duration_ms: Count,
  attempt: Count,
  deliveries: Count,
  payments: Count,
  net_minor: Count,
  transactions: Count,
  clients: Count,
})
type Line = v.InferOutput<typeof Line>

type Told = Omit<StoryLine, 'at'>

/** Actions that only read, by operators or by the console. They are not told. */
const READS_ONLY = /^gateway-local-(get|list|find)-/

const action = ({ action: name = '' }: Line): string => name.replace(/^gateway-local-/, '')

const VERDICTS = new Map<string | undefined, Pick<Told, 'tone' | 'text'>>([
  ['true', { tone: 'good', text: 'the books balance' }],
  ['false', { tone: 'bad', text: 'the books do not balance' }],
])
const UNDECIDED = { tone: 'plain', text: 'the audit could not decide whether the books balance' } as const

/** A line about a payment. */
const ofPayment = (line: Line, tone: Told['tone'], text: string): Told => ({
  subject: 'payment',
  tone,
  ...(line.payment_id !== undefined && { id: line.payment_id }),
  text,
})

const channel = ({ channel: code, method = 'a channel' }: Line): string => code ?? method

const heard = ({ source = 'us' }: Line): string => `(heard by ${source.replaceAll('_', ' ')})`

const reason = ({ failure_reason: code = 'other' }: Line): string => code.replaceAll('_', ' ')

const announced = ({ deliveries = 0 }: Line): string => `${counted(deliveries, 'webhook')} to send`

const SHORT_ID = 8

const endpoint = ({ endpoint_id: id = '' }: Line): string => `endpoint ${id.slice(0, SHORT_ID)}`

/** The result of a webhook attempt. */
const answered = (line: Line): string => {
  const answer = line.http_status === undefined ? (line.error ?? 'no answer') : `answered ${line.http_status}`
  return `${endpoint(line)}: ${answer} in ${line.duration_ms ?? 0} ms (attempt ${line.attempt ?? 1})`
}

const CREATE_FAILED = (line: Line) => ofPayment(line, 'bad', `could not be created: ${line.reason ?? 'unknown'}`)

const ofSettlement = ({ settlement_id: id }: Line, tone: Told['tone'], text: string): Told => ({
  subject: 'settlement',
  tone,
  ...(id !== undefined && { id }),
  text,
})

/** Read-only actions of operators, and runs without work, are not told. */
const TELLERS: ReadonlyMap<string, (line: Line) => Told | undefined> = new Map(
  Object.entries<(line: Line) => Told | undefined>({
    'payment.created': (line) => ofPayment(line, 'plain', `created, to be paid by ${channel(line)}`),
    'payment.create_failed': CREATE_FAILED,
    'payment.create_refused': CREATE_FAILED,
    'payment.succeeded': (line) =>
      ofPayment(line, 'good', `paid by ${channel(line)} ${heard(line)}; ${announced(line)}`),
    'payment.failed': (line) => ofPayment(line, 'bad', `failed: ${reason(line)} ${heard(line)}; ${announced(line)}`),
    'payment.expired': (line) => ofPayment(line, 'bad', `expired ${heard(line)}; ${announced(line)}`),
    'payment.cancelled': (line) => ofPayment(line, 'bad', `cancelled ${heard(line)}`),
    'delivery.succeeded': (line) => ({ subject: 'webhook', tone: 'good', text: answered(line) }),
    'delivery.failed': (line) => ({ subject: 'webhook', tone: 'bad', text: answered(line) }),
    'delivery.abandoned': (line) => ({
      subject: 'webhook',
      tone: 'bad',
      text: `${answered(line)}; the delivery was abandoned`,
    }),
    'delivery.skipped': (line) => ({
      subject: 'webhook',
      tone: 'bad',
      text: `${endpoint(line)} was skipped: it is disabled`,
    }),
    'delivery.not_sent': ({ deliveries = 0 }) => ({
      subject: 'webhook',
      tone: 'bad',
      text: `messages of ${counted(deliveries, 'webhook')} were not sent; due work sends them`,
    }),
    'settlement.recorded': (line) => {
      const what = `${rupiah(line.net_minor ?? 0)} of ${counted(line.payments ?? 0, 'payment')}`
      return ofSettlement(line, 'good', `recorded: ${what} is to be paid out`)
    },
    'settlement.closed': (line) =>
      line.status === 'failed'
        ? ofSettlement(line, 'bad', 'its payout failed')
        : ofSettlement(line, 'good', 'its money is paid out'),
    'suspense.recorded': ({ kind = '', cause = '', suspense_id: id = '', payment_id: paymentId }) => ({
      subject: 'suspense',
      tone: 'bad',
      ...(paymentId !== undefined && { id: paymentId }),
      text: `${kind} ${cause.replaceAll('_', ' ')} (${id})`,
    }),
    'provider.call_failed': (line) => ({
      subject: 'provider',
      tone: 'bad',
      text: `${line.operation ?? 'a call'} failed: ${line.reason ?? 'unknown'}`,
    }),
    'provider.call_refused': (line) => ({
      subject: 'provider',
      tone: 'bad',
      text: `${line.operation ?? 'a call'} was refused because of our request: ${line.code ?? line.reason ?? 'unknown'}`,
    }),
    'callback.refused': () => ({ subject: 'callback', tone: 'bad', text: 'refused: it had no valid token' }),
    'callback.ignored': () => ({
      subject: 'callback',
      tone: 'plain',
      text: 'ignored: it does not concern this gateway',
    }),
    'callback.deferred': (line) => ({
      subject: 'callback',
      tone: 'plain',
      ...(line.payment_id !== undefined && { id: line.payment_id }),
      text: `deferred: ${line.outcome ?? 'it is processed later'}`,
    }),
    'endpoint.slow': () => ({
      subject: 'webhook',
      tone: 'bad',
      text: 'the endpoint is slow: its webhooks use the slow lane',
    }),
    'endpoint.answers_again': () => ({ subject: 'webhook', tone: 'good', text: 'the endpoint answers again' }),
    'sync.completed': ({ transactions = 0 }) =>
      transactions === 0
        ? undefined
        : { subject: 'work', tone: 'plain', text: `the provider’s transactions were read: ${transactions}` },
    'sweep.completed': ({ clients = 0 }) => ({
      subject: 'work',
      tone: 'plain',
      text: `the daily sweep started settlements of ${counted(clients, 'merchant')}`,
    }),
    'settlement.waiting': () => ({
      subject: 'work',
      tone: 'plain',
      text: 'no settlement yet: the eligible money is below the floor, or a fee is not final',
    }),
    'audit.completed': ({ balanced }) => ({ subject: 'work', ...(VERDICTS.get(balanced) ?? UNDECIDED) }),
    'operator.action': (line) =>
      READS_ONLY.test(line.action ?? '') ? undefined : { subject: 'operator', tone: 'plain', text: action(line) },
    'operator.refused': (line) =>
      READS_ONLY.test(line.action ?? '')
        ? undefined
        : { subject: 'operator', tone: 'bad', text: `${action(line)} was refused: ${line.code ?? ''}` },
    'alert.published': (line) => ({
      subject: 'alert',
      tone: 'bad',
      text: `the operators were alerted${line.suspense_id === undefined ? '' : ` about ${line.suspense_id}`}`,
    }),
    'message.failed': (line) => ({
      subject: 'work',
      tone: 'bad',
      text: `${line.function ?? 'a worker'} could not process a message`,
    }),
    'invocation.failed': (line) => ({ subject: 'work', tone: 'bad', text: `${line.function ?? 'a function'} failed` }),
  }),
)

/** The story line of a log line; undefined for a log line that is not told. */
export const tellLogLine = (json: string): StoryLine | undefined => {
  const line = v.parse(Line, JSON.parse(json))
  const told = TELLERS.get(line.message)?.(line)
  return told && { at: line.timestamp, ...told }
}
