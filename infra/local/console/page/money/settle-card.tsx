import { useState } from 'preact/hooks'
import * as v from 'valibot'
import { countOf, rupiah } from '../../activity/activity-line.ts'
import type { ConsoleCall } from '../../console-call.ts'
import { ActionButton, WorkButton } from '../action-button.tsx'
import {
  api,
  ask,
  doCall,
  invoke,
  jumpBy,
  type Loaded,
  load,
  operate,
  withClientId,
} from '../gateway.ts'
import { jakartaMinute } from '../jakarta.ts'
import { Card } from '../parts.tsx'
import { type Answer, ClockSchema, SettlementsSchema } from '../shapes.ts'

const DAY = 86_400

const STEPS = [
  ['Jump 5 days', jumpBy(5 * DAY), 'the provider then settles the payments'],
  ['Read the provider’s transactions', invoke('sync-provider-transactions'), 'fees become final'],
  ['Sweep', invoke('sweep-settlements'), 'records a settlement of credits older than a day'],
  ['Check due work', invoke('check-due-work'), 'expires payments, and sends overdue webhooks'],
] as const

/** All steps from paid payments to a settlement that can be paid out; or each step by itself. */
export function SettleCard() {
  const [steps, setSteps] = useState<readonly Told[]>([])
  const settle = async () => {
    const sentences: Told[] = []
    setSteps([])
    for await (const sentence of settleEverything()) {
      sentences.push(sentence)
      setSteps([...sentences])
    }
  }
  return (
    <Card
      title="Settle everything now"
      note="Five days pass, the provider settles, the sweep settles, and the audit checks."
    >
      <WorkButton label="Settle everything now" kind="main" work={settle} />
      <div role="status">
        <ol class="attempts">
          {steps.map(({ text, ok }) => (
            <li key={text} class={ok ? 'good' : 'bad'}>
              {text}
            </li>
          ))}
        </ol>
      </div>
      <details>
        <summary>Step by step</summary>
        <ol class="steps">
          {STEPS.map(([label, call, effect]) => (
            <li key={label}>
              <ActionButton label={label} call={call} /> <span class="muted">{effect}</span>
            </li>
          ))}
        </ol>
      </details>
    </Card>
  )
}

/** What a step of the day did, in a sentence. */
type Told = { readonly text: string; readonly ok: boolean }

/** A settlement is paid out a minute after its record at the earliest. */
const PAYABLE_AFTER = 120

const TransactionsSchema = v.object({ transactions: v.number() })
const AuditSchema = v.object({ balanced: v.unknown(), differences: v.array(v.unknown()) })

/** Says what each step did, and ends at the first refusal. */
async function* settleEverything(): AsyncGenerator<Told, void> {
  const before = await settlements()
  if (!('value' in before)) return yield { ok: false, text: before.error }
  const earlier = new Set(before.value.data.map(({ id }) => id))
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
  if (!('value' in recorded)) return yield { ok: false, text: recorded.error }
  const added = recorded.value
  yield { ok: true, text: added.length > 0 ? sentenceOf(added) : await whyNothing() }
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

/** Returns whether the day goes on. */
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
  const isSound = !v.is(AuditSchema, answer.body) || answer.body.balanced === true
  yield isDone ? { ok: isSound, text: say(parsed.output) } : refused(answer)
  return isDone
}

function refused({ message, status }: Answer): Told {
  return { ok: false, text: message || `A step answered the HTTP status ${status}.` }
}

function settlements() {
  return load(SettlementsSchema, api('settlements?per_page=20'))
}

const POLL_MS = 250
const MAX_POLLS = 20

type Settlements = v.InferOutput<typeof SettlementsSchema>['data']

/** A worker settles after the sweep. A sweep of little money records nothing. */
async function settlementsAfter(earlier: ReadonlySet<string>): Promise<Loaded<Settlements>> {
  for (let polls = 1; ; polls++) {
    const dry = await dryTrigger()
    const read = await settlements()
    if (!('value' in read)) return read
    const added = read.value.data.filter(({ id }) => !earlier.has(id))
    // A refused trigger has nothing to settle: the worker has settled it, or it is too little.
    if (added.length > 0 || !dry.ok || polls === MAX_POLLS) return { value: added }
    await pause(POLL_MS)
  }
}

function dryTrigger() {
  return ask(operate('trigger-settlement', withClientId({ dry_run: true })))
}

async function whyNothing() {
  const { message } = await dryTrigger()
  return `No settlement: ${message || 'a worker still sums it'}.`
}

function sentenceOf(recorded: Settlements) {
  const netMinor = recorded.reduce((sum, { net_minor: net }) => sum + net, 0)
  const payments = recorded.reduce((sum, { payment_count: count }) => sum + count, 0)
  return (
    `${countOf(recorded.length, 'settlement')}, ${rupiah(netMinor)} of ` +
    `${countOf(payments, 'payment')}, to be paid out.`
  )
}

function verdict(whose: string, { balanced, differences }: Audit) {
  if (balanced === true) return `${whose} balance.`
  if (balanced === false)
    return `${whose} do not balance: ${countOf(differences.length, 'difference')}.`
  return `${whose} change too fast for an audit. Try again later.`
}

function pause(ms: number) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
