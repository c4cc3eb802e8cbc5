import { type RawItem, text } from '../../support/recount/books.ts'
import type { Observations } from '../watching/observations.ts'
import { isChanged, onWorkersWrite, watchClocks } from '../watching/rules.ts'
import type { ProviderAnswer } from '../world/listeners.ts'
import { namesOf, type Process } from '../world/process.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import { paymentOfReference, paymentRow } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import { isPayable, OPEN } from './watch-closing.ts'

const REFERENCE = /^([0-9a-f-]{36})-(\d+)$/

type Created = {
  readonly requestId: string
  readonly paymentId: string
  readonly attempt?: number
  /** The payment has its money, through another attempt: showing the request does not excuse it. */
  readonly isSpent?: true
}

const createdBy = ({ method, path, outcome }: ProviderAnswer): Created | undefined => {
  if (method !== 'POST' || path !== '/v3/payment_requests') return undefined
  if (outcome.kind !== 'answered' || outcome.status >= 300) return undefined
  const { payment_request_id: requestId, reference_id: reference } = Object(outcome.json)
  const [, paymentId, attempt] = REFERENCE.exec(String(reference)) ?? []
  return paymentId === undefined ? undefined : { requestId: String(requestId), paymentId, attempt: Number(attempt) }
}

/** What the payment says of an attempt whose request it does not show. */
const isReported = (payment: RawItem | undefined, attempt: number): boolean => {
  const attempts = (payment?.['provider_attempts'] ?? []) as readonly { number: number; outcome: string }[]
  return attempts.some(({ number, outcome }) => number === attempt && ['started', 'unknown'].includes(outcome))
}

/** The worker that knows of a request which no payment shows or needs cancels it, or its payment says so. */
export const watchOrphans = (world: World, seen: Observations): (() => readonly string[]) => {
  /** Requests that a process must cancel, or see shown, before it ends. */
  const known = new Map<Process, Created[]>()
  const troubled = new WeakSet<Process>()
  const asked = new Set<string>()

  world.onFault.push((fault) => {
    // A transaction that conflicts is retried until it is applied or refused.
    const isTrouble = /^(table|index)/.test(fault) && fault !== 'tableConflict'
    if (isTrouble) for (const process of namesOf(world, world.acting)) troubled.add(process)
  })
  world.onRefused.push(({ key }, was) => {
    // A worker that another attempt refused has an answer of the table again, and reads its payment next.
    for (const process of namesOf(world, world.acting)) {
      const mine = (known.get(process) ?? []).filter(({ paymentId }) => key.pk === `PAYMENT#${paymentId}`)
      const isPassed = (attempt: number) => was?.['status'] !== 'creating' || was['attempt'] !== attempt
      if (mine.some(({ attempt }) => attempt !== undefined && isPassed(attempt))) troubled.delete(process)
    }
  })
  world.onAsked.push((_, method, path) => {
    const id = cancelledRequest(method, path)
    if (id !== undefined) asked.add(id)
  })
  const mustEnd = (process: Process, created: Created) => {
    // Earlier faults do not decide its result.
    troubled.delete(process)
    known.set(process, [...(known.get(process) ?? []), created])
  }
  world.onAnswered.push((process, answer) => {
    const created = createdBy(answer)
    if (created) mustEnd(process, created)
  })
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || after?.['status'] !== 'succeeded' || before?.['status'] === 'succeeded') return
    const requestId = text(after, 'payment_request_id')
    const isPaidThroughAnother = isPayable(world, requestId)
    if (isPaidThroughAnother && world.acting) {
      mustEnd(world.acting, { requestId, paymentId: key.pk.slice('PAYMENT#'.length), isSpent: true })
    }
  })

  const isShown = ({ requestId, paymentId, isSpent }: Created): boolean =>
    isSpent !== true && paymentRow(world, paymentId)?.['payment_request_id'] === requestId

  world.onEnded.push((process, how) => {
    const mine = known.get(process) ?? []
    known.delete(process)
    if (how === 'died' || troubled.has(process) || world.sharing.has(process)) return
    for (const created of mine) {
      if (asked.has(created.requestId) || isShown(created) || !isPayable(world, created.requestId)) continue
      seen.problems.push(
        `${process.name} left ${created.requestId} of ${created.paymentId} payable, which no customer is shown`,
      )
    }
  })

  return () =>
    world.provider.storedRequests().flatMap(({ id, request }) => {
      // By now every request that the gateway did not close has expired.
      if (![...OPEN, 'EXPIRED'].includes(request.status) || asked.has(id)) return []
      const [, paymentId = '', attempt] = REFERENCE.exec(request.reference_id) ?? []
      const payment = paymentRow(world, paymentId)
      const isOwn = payment?.['payment_request_id'] === id
      return isOwn || isReported(payment, Number(attempt))
        ? []
        : [`no worker has cancelled ${id} of ${paymentId}, and no attempt says that it may be there`]
    })
}

const PUSHED = 'OVO'
/** So long a push can be answered from the end of its call, and a call takes at most as long as its lease. */
const PUSH_MS = 60_000
const LEASE_MS = 30_000
const CLOSED = ['FAILED', 'EXPIRED', 'CANCELED']

type Attempt = {
  readonly number: number
  readonly outcome: string
  readonly startedAt: string
  readonly endedAt?: string
}
type Row = Readonly<Record<'type' | 'status' | 'reference_id' | 'product_id', string>>

/** What a process was shown of a reference's rows, whether it was all of them, and what it was told of what they name. */
type Shown = {
  readonly rows: Map<string, { readonly isAll: boolean; readonly found: readonly Row[] }>
  readonly money: Map<string, number>
  readonly closed: Set<string>
}

const lastOf = (payment: RawItem) => ((payment['provider_attempts'] ?? []) as readonly Attempt[]).at(-1)

const channelOf = (payment: RawItem) => Object(payment['request']).channelCode ?? payment['channel_code']

const note = ({ rows, money, closed }: Shown, { method, path, query, outcome }: ProviderAnswer): void => {
  const json = outcome.kind === 'answered' && outcome.status === 200 ? Object(outcome.json) : undefined
  const reference = query.get('reference_id')
  if (path === '/transactions' && reference !== null) {
    const found = [...(query.has('after_id') ? (rows.get(reference)?.found ?? []) : []), ...(json?.data ?? [])]
    return void rows.set(reference, { isAll: json !== undefined && json.has_more !== true, found })
  }
  if (json === undefined || method !== 'GET') return
  if (path.startsWith('/v3/payments/') && json.status === 'SUCCEEDED' && Array.isArray(json.captures))
    money.set(String(json.payment_id), Number(json.captures[0]?.capture_amount))
  // A request is paid once.
  const isPaid = path.startsWith('/v3/payment_requests/') && json.status === 'SUCCEEDED'
  if (isPaid || CLOSED.includes(String(json.status))) closed.add(String(json.reference_id))
}

/** A row that may be money, and of which the process was not told that it is none of what was asked for. */
const isUndecided = (row: Row, reference: string, asked: number, { money, closed }: Shown): boolean => {
  if (row.reference_id !== reference || row.type !== 'PAYMENT') return false
  if (row.status === 'PENDING') return !closed.has(reference) && money.get(row.product_id) === undefined
  return row.status === 'SUCCESS' && [undefined, asked].includes(money.get(row.product_id))
}

/** Checked when a push is claimed and leaves: no former push can be answered or paid, and its lease is its claim's. */
export const watchPushClaims = (world: World, seen: Observations): void => {
  const shown = new WeakMap<Process, Shown>()
  const apartMs = watchClocks(world)

  world.onAnswered.push((process, answer) => {
    const mine = shown.get(process) ?? { rows: new Map(), money: new Map(), closed: new Set() }
    shown.set(process, mine)
    note(mine, answer)
  })

  world.onAsked.push((_, method, path, body) => {
    const reference = method === 'POST' && path === '/v3/payment_requests' ? String(Object(body).reference_id) : ''
    const payment = paymentOfReference(world, reference)
    if (payment?.['status'] !== 'creating' || channelOf(payment) !== PUSHED) return
    const isIts = reference === `${reference.slice(0, 36)}-${text(payment, 'attempt')}`
    if (!isIts || Date.parse(text(payment, 'lease_until')) + apartMs() < world.scheduler.nowMs())
      seen.problems.push(`${reference} is pushed after its lease`)
  })

  onWorkersWrite(world, / PAYMENT$/, (write) => {
    const { key, before, after, worker, nowMs } = write
    const last = lastOf(before)
    if (before['status'] !== 'creating' || after['status'] !== 'creating' || !isChanged(write, 'attempt')) return
    if (channelOf(before) !== PUSHED || last === undefined || !['unknown', 'started'].includes(last.outcome)) return
    const report = (what: string) => void seen.problems.push(`${key.pk} is claimed for a push ${what}`)
    const endMs = Date.parse(last.endedAt ?? text(before, 'lease_until')) || Date.parse(last.startedAt) + LEASE_MS
    if (nowMs + write.apartMs < endMs + PUSH_MS) report('while the last one may be answered')
    if (world.sharing.has(worker)) return
    const reference = `${key.pk.slice('PAYMENT#'.length)}-${last.number}`
    const mine = shown.get(worker)
    const rows = mine?.rows.get(reference)
    if (mine === undefined || rows?.isAll !== true)
      return report('by a worker that has not seen what became of the last one')
    const asked = Number(Object(before['request']).notionalMinor)
    if (rows.found.some((row) => isUndecided(row, reference, asked, mine)))
      report('although the last one may have its money')
  })
}

/** By when the provider shows the row of a payment. */
const SHOWN_MS = 3 * 60_000

type Push = {
  readonly id: string
  readonly fromMs: number
  readonly untilMs: number
  /** When it was paid, what was asked for. */
  readonly paidMs: number
}

/** Answers, at rest, which push began while the last one could still be answered, or after it was paid. */
export const watchPushes = (world: World): (() => readonly string[]) => {
  const apartMs = watchClocks(world)
  return () => {
    const shown = world.provider.capturedPayments().filter(({ id }) => !world.unshownRows.has(id))
    const paid = new Map(shown.map(({ id, amount }) => [id, amount]))
    const pushes = new Map<string, Push[]>()
    for (const { id, request, expiresAtMs } of world.provider.storedRequests()) {
      const [, paymentId] = REFERENCE.exec(request.reference_id) ?? []
      if (paymentId === undefined || request.channel_code !== PUSHED) continue
      const isClosed = !['PENDING', 'EXPIRED'].includes(request.status)
      const untilMs = isClosed ? Math.min(Date.parse(request.updated), expiresAtMs) : expiresAtMs
      const isPaid = paid.get(String(request.latest_payment_id)) === request.request_amount
      const paidMs = isPaid ? Date.parse(request.updated) : Number.POSITIVE_INFINITY
      const push = { id, fromMs: Date.parse(request.created), untilMs, paidMs }
      pushes.set(paymentId, [...(pushes.get(paymentId) ?? []), push])
    }
    return [...pushes].flatMap(([paymentId, ofOne]) => {
      const inOrder = ofOne.toSorted((one, other) => one.fromMs - other.fromMs)
      return inOrder.slice(1).flatMap(({ id, fromMs }, at) => {
        const former = inOrder[at]
        if (former && former.untilMs > fromMs + apartMs())
          return [`${id} of ${paymentId} was pushed while ${former.id} could still be answered`]
        return former && former.paidMs + SHOWN_MS < fromMs
          ? [`${id} of ${paymentId} was pushed although ${former.id} had been paid`]
          : []
      })
    })
  }
}
