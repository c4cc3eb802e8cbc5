import { type RawItem, text } from '../../support/recount/books.ts'
import type { Observations } from '../watching/observations.ts'
import { APART_MS, brokenOf, isChanged, ms, onWorkersWrite, type Rules, watchRules } from '../watching/rules.ts'
import type { ProviderAnswer } from '../world/listeners.ts'
import type { Process } from '../world/process.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import { paymentOfReference } from '../world/rows.ts'
import type { World } from '../world/world.ts'

/** What the provider calls a request that waits to be paid. */
export const OPEN: readonly string[] = ['REQUIRES_ACTION', 'PENDING']
const CLOSED = ['failed', 'expired', 'cancelled']

/** Whether it can be paid at this moment, by the provider's own books. */
export const isPayable = ({ provider, scheduler }: World, requestId: string): boolean => {
  const record = provider.storedRequest(requestId)
  return record !== undefined && OPEN.includes(record.request.status) && record.expiresAtMs > scheduler.nowMs()
}

/** Whether it was paid, with the amount asked for, while it could be. */
const isPaid = ({ provider }: World, requestId: string): boolean => {
  const request = provider.storedRequest(requestId)?.request
  const captured = provider.capturedPayments().find(({ id }) => id === request?.latest_payment_id)
  return request?.status === 'SUCCEEDED' && captured?.amount === request.request_amount
}

/** What the provider says of a request; nothing where its reads may come late. */
const requestOf = ({ provider, faults }: World, payment: RawItem) =>
  faults.providerStale > 0 || faults.providerBehind > 0
    ? undefined
    : provider.storedRequest(text(payment, 'payment_request_id'))?.request

/** It was paid after its end: money that is not what was asked for fails it all the same. */
const hasMoney = (world: World, payment: RawItem): boolean =>
  world.provider.capturedPayments().some(({ id }) => id === requestOf(world, payment)?.latest_payment_id)

/** Ends that the provider's own books, and what was written down before, do not bear out. */
const wrongEnds: Rules = {
  'is failed, and was cancelled on our own behalf': ({ world, after }) =>
    after['status'] === 'failed' &&
    (after['cancel_requested_at'] ?? after['expiry_started_at']) !== undefined &&
    requestOf(world, after)?.status === 'CANCELED' &&
    !hasMoney(world, after),
  'is expired, and was cancelled for its merchant before': ({ world, after }) => {
    const { status, updated = '' } = requestOf(world, after) ?? {}
    const isCancelled = after['cancel_requested_at'] !== undefined && status === 'CANCELED'
    return (
      after['status'] === 'expired' && isCancelled && ms(after, 'expiry_started_at') > Date.parse(updated) + APART_MS
    )
  },
}

/** The provider has said no to a cancel: not that it is busy, broken, or does not know who asks. */
const refusedBy = ({ method, path, outcome }: ProviderAnswer): string | undefined => {
  const id = cancelledRequest(method, path)
  const isNo = outcome.kind === 'answered' && [400, 404, 409].includes(outcome.status)
  return isNo ? id : undefined
}

/** Checked when a payment ends without money: it can no longer be paid, and it says on whose behalf it was closed. */
export const watchClosing = (world: World, seen: Observations): void => {
  const refused = new Set<string>()

  world.onAnswered.push((_, answer) => {
    const id = refusedBy(answer)
    if (id !== undefined) refused.add(id)
  })

  world.onAsked.push((_, method, path) => {
    const id = cancelledRequest(method, path)
    const request = id === undefined ? undefined : world.provider.storedRequest(id)?.request
    const payment = paymentOfReference(world, request?.reference_id)
    if (payment?.['status'] !== 'pending' || payment['payment_request_id'] !== id) return
    if (payment['cancel_requested_at'] === undefined && payment['expiry_started_at'] === undefined)
      seen.problems.push(`${id} is cancelled, and its payment does not say on whose behalf`)
  })

  const ends: Rules = {
    ...wrongEnds,
    'has ended, and its destination has been paid': ({ after }) =>
      isClosed(after) && after['status'] !== 'failed' && isPaid(world, text(after, 'payment_request_id')),
    'has ended, and its destination can still be paid': ({ after }) =>
      isClosed(after) && isPayable(world, text(after, 'payment_request_id')),
  }
  const isClosed = (payment: RawItem) =>
    CLOSED.includes(text(payment, 'status')) && !refused.has(text(payment, 'payment_request_id'))
  watchRules(world, seen, ({ sk }, write) => (sk === 'PAYMENT' && isChanged(write, 'status') ? ends : undefined))

  watchLastWord(world, seen)
}

/** What the provider has answered when a process asked last about a request; `latest`: the payment that it names. */
type Word = { readonly said: string; readonly latest?: string }

/** What one process has read: requests, captured payments, and the payments that any answer named. */
type Answers = {
  readonly words: Map<string, Word>
  readonly money: Map<string, { readonly reference: string; readonly amount: number }>
  readonly answered: Set<string>
}

/** From the read of a clock to the write. */
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

const note = ({ words, money, answered }: Answers, answer: ProviderAnswer): void => {
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

/** `end`: how a payment ends whose request was cancelled upstream. */
const problemsOf = (
  payment: RawItem,
  { words, money, answered }: Answers,
  end: string | undefined,
): readonly string[] => {
  const status = text(payment, 'status')
  const amounts = [...money.values()]
    .filter(({ reference }) => text(payment, 'pk') === `PAYMENT#${reference.slice(0, 36)}`)
    .map(({ amount }) => amount)
  const { said, latest } = words.get(text(payment, 'payment_request_id')) ?? { said: 'nothing' }
  // A wrong amount fails it, for any status of its request.
  const isByMoney = status === 'failed' && amounts.length > 0
  const asked = Number(payment['notional_minor'])
  // Two customers, or one twice, whose money a sync reads side by side: what comes first decides, the other is held.
  const isByOther = isByMoney && amounts.some((amount) => amount !== asked)
  const isBorneOut = isByMoney || BORNE_OUT[status]?.includes(said) === true
  return brokenOf({
    [`and its request was cancelled on behalf of ${end}`]:
      said === 'CANCELED' && !isByMoney && (end ?? status) !== status,
    'and the worker that ended it was told of its money': amounts.includes(asked) && !isByOther,
    [`and the provider has said ${said}`]: !isBorneOut,
    'and no worker was answered about its money': !isByMoney && latest !== undefined && !answered.has(latest),
  })
}

/** Checked when a payment ends without money: its worker was last told of this end by the provider, and of no money. */
const watchLastWord = (world: World, seen: Observations): void => {
  const answers = new WeakMap<Process, Answers>()
  const nothing = (): Answers => ({ words: new Map(), money: new Map(), answered: new Set() })

  world.onAnswered.push((process, answer) => {
    const mine = answers.get(process) ?? nothing()
    answers.set(process, mine)
    note(mine, answer)
  })

  onWorkersWrite(world, / PAYMENT$/, ({ key, before, after, worker, nowMs, apartMs }) => {
    const status = text(after, 'status')
    // A process that continues in another's environment has asked under its own name.
    if (before['status'] !== 'pending' || !(status in BORNE_OUT) || world.sharing.has(worker)) return
    const end = endOfCancelled(after, nowMs, apartMs)
    for (const what of problemsOf(after, answers.get(worker) ?? nothing(), end))
      seen.problems.push(`${key.pk} is ${status}, ${what}`)
  })
}
