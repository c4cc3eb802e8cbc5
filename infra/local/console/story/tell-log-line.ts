import * as v from 'valibot'
import { counted, type StoryLine } from './story-line.ts'

const Text = v.optional(v.string())
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
  transactions: v.optional(v.number()),
  clients: v.optional(v.number()),
  delay_seconds: v.optional(v.number()),
})
type Line = v.InferOutput<typeof Line>

type Told = Omit<StoryLine, 'at'>

/** Asked by whoever looks, the console among them: nothing happened. */
const LOOKING = /^gateway-local-(get|list|find)-/

const action = ({ action: name = '' }: Line): string => name.replace(/^gateway-local-/, '')

const VERDICTS = new Map<string | undefined, Pick<Told, 'tone' | 'text'>>([
  ['true', { tone: 'good', text: 'the books balance' }],
  ['false', { tone: 'bad', text: 'the books do not balance' }],
])
const UNDECIDED = { tone: 'plain', text: 'the books could not be told right or wrong' } as const

/** What the log says that no row of the table does. Looks of operators and rounds without work are left out. */
const TELLERS: ReadonlyMap<string, (line: Line) => Told | undefined> = new Map(
  Object.entries<(line: Line) => Told | undefined>({
    'provider.call_failed': (line) => ({
      subject: 'provider',
      tone: 'bad',
      text: `${line.operation ?? 'a call'} went wrong: ${line.reason ?? 'unknown'}`,
    }),
    'provider.call_refused': (line) => ({
      subject: 'provider',
      tone: 'bad',
      text: `${line.operation ?? 'a call'} was refused for how we asked: ${line.code ?? line.reason ?? 'unknown'}`,
    }),
    'callback.refused': () => ({ subject: 'callback', tone: 'bad', text: 'refused: it had no token of ours' }),
    'callback.ignored': () => ({ subject: 'callback', tone: 'plain', text: 'ignored: it is about nothing of ours' }),
    'callback.deferred': (line) => ({
      subject: 'callback',
      tone: 'plain',
      ...(line.payment_id !== undefined && { id: line.payment_id }),
      text: `put off: ${line.outcome ?? 'it is looked at later'}`,
    }),
    'endpoint.slow': () => ({
      subject: 'webhook',
      tone: 'bad',
      text: 'the endpoint is slow: it goes to the slow lane',
    }),
    'endpoint.answers_again': () => ({ subject: 'webhook', tone: 'good', text: 'the endpoint answers again' }),
    'sync.completed': ({ transactions = 0 }) =>
      transactions === 0
        ? undefined
        : { subject: 'work', tone: 'plain', text: `the provider’s transactions were read: ${transactions}` },
    'sweep.completed': ({ clients = 0 }) => ({
      subject: 'work',
      tone: 'plain',
      text: `the daily sweep asked for settlements of ${counted(clients, 'merchant')}`,
    }),
    'settlement.waiting': () => ({
      subject: 'work',
      tone: 'plain',
      text: 'nothing is settled yet: what is old enough is under the floor, or a fee is not final',
    }),
    'audit.completed': ({ balanced }) => ({ subject: 'work', ...(VERDICTS.get(balanced) ?? UNDECIDED) }),
    'operator.action': (line) =>
      LOOKING.test(line.action ?? '') ? undefined : { subject: 'operator', tone: 'plain', text: action(line) },
    'operator.refused': (line) =>
      LOOKING.test(line.action ?? '')
        ? undefined
        : { subject: 'operator', tone: 'bad', text: `${action(line)} was refused: ${line.code ?? ''}` },
    'alert.published': (line) => ({
      subject: 'alert',
      tone: 'bad',
      text: `the operators were alerted${line.suspense_id === undefined ? '' : ` of ${line.suspense_id}`}`,
    }),
    'message.failed': (line) => ({
      subject: 'work',
      tone: 'bad',
      text: `${line.function ?? 'a worker'} failed a message`,
    }),
    'invocation.failed': (line) => ({ subject: 'work', tone: 'bad', text: `${line.function ?? 'a function'} failed` }),
  }),
)

/** What happened, by a line of the local log; undefined for one that tells nothing new. */
export const tellLogLine = (json: string): StoryLine | undefined => {
  const line = v.parse(Line, JSON.parse(json))
  const told = TELLERS.get(line.message)?.(line)
  return told && { at: line.timestamp, ...told }
}
