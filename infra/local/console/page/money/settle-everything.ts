import * as v from 'valibot'
import { countOf, rupiah } from '../../activity/activity-line.ts'
import type { ConsoleCall } from '../../console-call.ts'
import { api, invoke, jumpBy, operate, withClientId } from '../calls.ts'
import { type Answer, ask, doCall } from '../gateway.ts'
import { jakartaMinute } from '../jakarta.ts'
import { ClockSchema, SettlementsSchema } from '../shapes.ts'

/** One step of the day in a sentence. */
export type Told = { readonly text: string; readonly ok: boolean }

const DAY = 86_400
/** A settlement is paid out a minute after its record at the earliest. */
const PAYABLE_AFTER = 120

const TransactionsSchema = v.object({ transactions: v.number() })
const AuditSchema = v.object({ balanced: v.unknown(), differences: v.array(v.unknown()) })

/**
 * Five days pass, the provider's transactions are read, the sweep settles, two minutes pass, and
 * the audit checks. It says what each step did, and ends at the first refusal.
 */
export async function* settleEverything(): AsyncGenerator<Told, void> {
  const earlier = new Set((await settlements()).map(({ id }) => id))
  const jumped = yield* step(
    jumpBy(5 * DAY),
    ClockSchema,
    ({ now }) => `Five days have passed: it is ${jakartaMinute(now)}.`,
  )
  if (!jumped) return
  const isRead = yield* step(
    invoke('sync-provider-transactions'),
    TransactionsSchema,
    ({ transactions }) =>
      transactions === 0
        ? 'The provider has no new transaction.'
        : `${countOf(transactions, 'transaction')} of the provider read. Their fees are final.`,
  )
  if (!isRead) return
  const swept = await doCall(invoke('sweep-settlements'))
  if (!swept.ok) return yield refused(swept)
  const recorded = await settlementsAfter(earlier)
  yield { ok: true, text: recorded.length > 0 ? sentenceOf(recorded) : await whyNothing() }
  const waited = yield* step(
    jumpBy(PAYABLE_AFTER),
    ClockSchema,
    () => 'Two minutes have passed: a payout waits a minute after its record.',
  )
  if (!waited) return
  for (const [whose, payload] of [
    ['The merchant’s books', withClientId()],
    ['The books of the house', {}],
  ] as const) {
    const isAudited = yield* told(await auditOf(payload), AuditSchema, (audit) =>
      verdict(whose, audit),
    )
    if (!isAudited) return
  }
}

type Audit = v.InferOutput<typeof AuditSchema>

const MAX_AUDITS = 4

/** An audit beside traffic may be inconclusive, and is repeated. */
async function auditOf(payload: object): Promise<Answer> {
  for (let audits = 1; ; audits++) {
    const answer = await doCall(invoke('audit-ledger', payload))
    const { balanced } = v.is(AuditSchema, answer.body) ? answer.body : { balanced: undefined }
    if (balanced !== 'inconclusive' || audits === MAX_AUDITS) return answer
    await pause(POLL_MS)
  }
}

/** Makes a call and says what it did. Returns whether the day goes on. */
async function* step<const Schema extends v.GenericSchema>(
  call: ConsoleCall,
  schema: Schema,
  say: (body: v.InferOutput<Schema>) => string,
): AsyncGenerator<Told, boolean> {
  return yield* told(await doCall(call), schema, say)
}

async function* told<const Schema extends v.GenericSchema>(
  answer: Answer,
  schema: Schema,
  say: (body: v.InferOutput<Schema>) => string,
): AsyncGenerator<Told, boolean> {
  const parsed = v.safeParse(schema, answer.body)
  const isDone = answer.ok && parsed.success
  yield isDone ? { ok: true, text: say(parsed.output) } : refused(answer)
  return isDone
}

function refused({ message, status }: Answer): Told {
  return { ok: false, text: message || `A step answered the HTTP status ${status}.` }
}

async function settlements() {
  const { body } = await ask(api('settlements?per_page=20'))
  const parsed = v.safeParse(SettlementsSchema, body)
  return parsed.success ? parsed.output.data : []
}

const POLL_MS = 250
const MAX_POLLS = 20

/** A worker settles after the sweep. A sweep of little money records nothing. */
async function settlementsAfter(earlier: ReadonlySet<string>) {
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    const added = (await settlements()).filter(({ id }) => !earlier.has(id))
    if (added.length > 0) return added
    const dry = await dryTrigger()
    // A refusal: the worker has nothing to settle, or has settled in this moment.
    if (!dry.ok) return (await settlements()).filter(({ id }) => !earlier.has(id))
    await pause(POLL_MS)
  }
  return []
}

function dryTrigger(): Promise<Answer> {
  return ask(operate('trigger-settlement', withClientId({ dry_run: true })))
}

/** The gateway says what is eligible and what the floor is. */
async function whyNothing(): Promise<string> {
  const { message } = await dryTrigger()
  return `No settlement: ${message || 'a worker still sums it'}.`
}

function sentenceOf(recorded: v.InferOutput<typeof SettlementsSchema>['data']): string {
  const netMinor = recorded.reduce((sum, { net_minor: net }) => sum + net, 0)
  const payments = recorded.reduce((sum, { payment_count: count }) => sum + count, 0)
  return (
    `${countOf(recorded.length, 'settlement')}, ${rupiah(netMinor)} of ` +
    `${countOf(payments, 'payment')}, to be paid out.`
  )
}

function verdict(whose: string, { balanced, differences }: Audit): string {
  if (balanced === true) return `${whose} balance.`
  if (balanced === false)
    return `${whose} do not balance: ${countOf(differences.length, 'difference')}.`
  return `${whose} change too fast for an audit. Try again later.`
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
