import { type RawItem, text } from '../../support/recount/books.ts'
import type { Observations } from '../watching/observations.ts'
import { watchClocks } from '../watching/row-write.ts'
import type { ProviderAnswer } from '../world/listeners.ts'
import type { Process } from '../world/process.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import type { World } from '../world/world.ts'

/** What the provider has answered when a process asked last about a request; `latest`: the payment that it names. */
type Word = { readonly said: string; readonly latest?: string }

/** What one process was told: of requests, of payments that are money, and of which payments it was answered at all. */
type Told = {
  readonly words: Map<string, Word>
  readonly money: Map<string, { readonly reference: string; readonly amount: number }>
  readonly answered: Set<string>
}

/** From the look at a clock to the write. */
const CALL_MS = 15_000

const ASKED = /^\/v3\/(payments|payment_requests)\/([^/]+)$/

const isAnswered = ({ outcome }: ProviderAnswer) =>
  outcome.kind === 'answered' && (outcome.status < 300 || [400, 404, 409].includes(outcome.status))

/** The word of an answer: a status, the code of a refusal, or nothing. */
const wordOf = (answer: ProviderAnswer): Word => {
  const { outcome } = answer
  if (outcome.kind !== 'answered' || !isAnswered(answer)) return { said: 'nothing' }
  const { status, error_code: code, latest_payment_id: latest } = Object(outcome.json)
  return { said: String(status ?? code), ...(latest !== undefined && { latest: String(latest) }) }
}

const note = ({ words, money, answered }: Told, answer: ProviderAnswer): void => {
  const { method, path, outcome } = answer
  const cancelled = cancelledRequest(method, path)
  if (cancelled !== undefined) return void words.set(cancelled, { said: wordOf(answer).said })
  const [, kind, id = ''] = ASKED.exec(path) ?? []
  if (kind === 'payment_requests') return void words.set(id, wordOf(answer))
  if (kind === undefined || !isAnswered(answer) || outcome.kind !== 'answered') return
  answered.add(id)
  const { status, currency, reference_id: reference, captures } = Object(outcome.json)
  if (status !== 'SUCCEEDED' || currency !== 'IDR' || !Array.isArray(captures)) return
  const amount = captures.reduce((sum: number, { capture_amount: one }) => sum + Number(one), 0)
  money.set(id, { reference: String(reference), amount })
}

/** That it cannot be closed, that it is not known, and how it had ended. */
const NOT_CLOSED = 'INELIGIBLE_TRANSACTION_STATUS'
const NOT_KNOWN = 'DATA_NOT_FOUND'
const BORNE_OUT: Readonly<Record<string, readonly string[]>> = {
  cancelled: ['CANCELED', NOT_CLOSED],
  expired: ['EXPIRED', 'CANCELED', NOT_CLOSED, NOT_KNOWN],
  failed: ['FAILED', 'CANCELED'],
}

/** How a payment ends whose request was cancelled upstream; undefined where clocks may differ about it. */
const endOfCancelled = (payment: RawItem, nowMs: number, apartMs: number): string | undefined => {
  if (payment['expiry_started_at'] !== undefined) return 'expired'
  if (payment['cancel_requested_at'] !== undefined) return 'cancelled'
  const overdueMs = nowMs - Date.parse(text(payment, 'expires_at'))
  if (Math.abs(overdueMs) <= apartMs + CALL_MS) return undefined
  return overdueMs > 0 ? 'expired' : 'failed'
}

const problemsOf = (
  payment: RawItem,
  { words, money, answered }: Told,
  endOf: (payment: RawItem) => string | undefined,
): readonly string[] => {
  const status = text(payment, 'status')
  const amounts = [...money.values()]
    .filter(({ reference }) => text(payment, 'pk') === `PAYMENT#${reference.slice(0, 36)}`)
    .map(({ amount }) => amount)
  const { said, latest } = words.get(text(payment, 'payment_request_id')) ?? { said: 'nothing' }
  // Money that is not what was asked for fails it, whatever its request says.
  const isByMoney = status === 'failed' && amounts.length > 0
  const asked = Number(payment['notional_minor'])
  // Two customers, or one twice, whose money a sync reads side by side: what comes first decides, the other is held.
  const isByOther = isByMoney && amounts.some((amount) => amount !== asked)
  const isOtherEnd = said === 'CANCELED' && !isByMoney && (endOf(payment) ?? status) !== status
  return [
    ...(isOtherEnd ? [`and its request was cancelled on behalf of ${String(endOf(payment))}`] : []),
    ...(amounts.includes(asked) && !isByOther ? ['and the worker that ended it was told of its money'] : []),
    ...(isByMoney || BORNE_OUT[status]?.includes(said) === true ? [] : [`and the provider has said ${said}`]),
    ...(isByMoney || latest === undefined || answered.has(latest)
      ? []
      : ['and no worker was answered about its money']),
  ]
}

/**
 * Checked when a payment ends without money: it ends as the provider's request had ended when its worker asked last,
 * who has been told of no money for it, and was answered where there may be some.
 */
export const watchLastWord = (world: World, seen: Observations): void => {
  const told = new WeakMap<Process, Told>()
  const apartMs = watchClocks(world)
  const endOf = (payment: RawItem) => endOfCancelled(payment, world.scheduler.nowMs(), apartMs())

  world.onAnswered.push((process, answer) => {
    const mine = told.get(process) ?? { words: new Map(), money: new Map(), answered: new Set() }
    told.set(process, mine)
    note(mine, answer)
  })

  world.onChange.push(({ key, before, after }) => {
    const { acting } = world
    if (key.sk !== 'PAYMENT' || before?.['status'] !== 'pending' || after === undefined) return
    if (!(text(after, 'status') in BORNE_OUT) || acting === undefined) return
    // What goes on in the environment of another has asked under its own name.
    if (world.sharing.has(acting)) return
    const mine = told.get(acting) ?? { words: new Map(), money: new Map(), answered: new Set() }
    for (const what of problemsOf(after, mine, endOf))
      seen.problems.push(`${key.pk} is ${text(after, 'status')}, ${what}`)
  })
}
