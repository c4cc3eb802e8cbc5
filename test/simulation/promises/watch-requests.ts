import { isOpen } from '../../../infra/local/provider-simulator/provider-objects.ts'
import type { Step } from '../../../shared/table/step.ts'
import { text, wholeRow } from '../../support/recount/books.ts'
import type { ProviderAnswer } from '../world/listeners.ts'
import { type Process } from '../world/process.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import { onCancel, paymentOfReference, paymentRow } from '../world/rows.ts'
import { isChanged, onWrite } from '../world/rules.ts'
import { namesOf, type World } from '../world/world.ts'

const CLOSED = ['failed', 'expired', 'cancelled']

/**
 * Checked when a payment ends without money: it can no longer be paid, and it notes for which actor
 * it was closed.
 */
export function watchClosing(world: World) {
  const refused = new Set<string>()

  // An answer that the provider is busy or broken refuses no cancel.
  world.onAnswered.push((_, { method, path, outcome }) => {
    const id = cancelledRequest(method, path)
    if (id !== undefined && outcome.kind === 'answered' && [400, 404, 409].includes(outcome.status))
      refused.add(id)
  })

  onCancel(world, (id, payment) => {
    if (payment?.['status'] !== 'pending' || payment['payment_request_id'] !== id) return
    if (payment['cancel_requested_at'] === undefined && payment['expiry_started_at'] === undefined)
      world.problems.push(`${id} is cancelled, and its payment does not note for which actor`)
  })

  onWrite(world, / PAYMENT$/, (write) => {
    const [status, requestId] = [
      text(write.after, 'status'),
      text(write.after, 'payment_request_id'),
    ]
    if (!isChanged(write, 'status') || !CLOSED.includes(status) || refused.has(requestId)) return
    if (status !== 'failed' && isPaid(world, requestId))
      world.problems.push(`${write.key.pk} has ended, and its destination has been paid`)
    if (isPayable(world, requestId))
      world.problems.push(`${write.key.pk} has ended, and its destination can still be paid`)
  })
}

/** Whether a request was paid in time, with the amount asked for. */
function isPaid({ provider }: World, requestId: string) {
  const request = provider.storedRequest(requestId)?.request
  const captured = provider.capturedPayments().find(({ id }) => id === request?.latest_payment_id)
  return request?.status === 'SUCCEEDED' && captured?.amount === request.request_amount
}

function isPayable({ provider, scheduler }: World, requestId: string) {
  const record = provider.storedRequest(requestId)
  return record !== undefined && isOpen(record.request) && record.expiresAtMs > scheduler.nowMs()
}

const REFERENCE = /^([0-9a-f-]{36})-(\d+)$/

type Created = {
  readonly requestId: string
  readonly paymentId: string
  readonly attempt?: number
  /** The payment was paid through another attempt, so its own request must be cancelled. */
  readonly isSpent?: true
}

/**
 * A worker that knows of an unneeded request cancels it, or the payment notes that it may exist.
 */
export function watchOrphans(world: World) {
  /** Requests that a process must cancel before it ends, unless their payment shows them. */
  const known = new Map<Process, Created[]>()
  const troubled = new WeakSet<Process>()
  const asked = new Set<string>()

  world.onFault.push((fault) => {
    // A conflict is no trouble: the transaction is retried until it is applied or refused.
    const isTrouble = /^(table|index)/.test(fault) && fault !== 'tableConflict'
    if (isTrouble) for (const process of namesOf(world, world.acting)) troubled.add(process)
  })
  world.onRefused.push((step, was) => {
    const { key } = step
    // The refused claim is of another request, which shares a frozen worker's environment. The
    // worker itself has no answer of the table.
    if (beginsAttempt(step)) return
    // A worker that a newer attempt refused has an answer of the table again. It reads its payment
    // next.
    for (const process of namesOf(world, world.acting)) {
      const mine = (known.get(process) ?? []).filter(
        ({ paymentId }) => key.pk === `PAYMENT#${paymentId}`,
      )
      const isPassed = (attempt: number) =>
        was?.['status'] !== 'creating' || wholeRow(was)['attempt'] !== attempt
      if (mine.some(({ attempt }) => attempt !== undefined && isPassed(attempt)))
        troubled.delete(process)
    }
  })
  onCancel(world, (id) => void asked.add(id))
  const mustEnd = (process: Process, created: Created) => {
    // Faults before this moment excuse nothing after it.
    troubled.delete(process)
    known.set(process, [...(known.get(process) ?? []), created])
  }
  world.onAnswered.push((process, answer) => {
    const created = createdBy(answer)
    if (created) mustEnd(process, created)
  })
  world.onChange.push(({ key, before, after }) => {
    if (
      key.sk !== 'PAYMENT' ||
      after?.['status'] !== 'succeeded' ||
      before?.['status'] === 'succeeded'
    )
      return
    const requestId = text(wholeRow(after), 'payment_request_id')
    if (world.acting && isPayable(world, requestId))
      mustEnd(world.acting, {
        requestId,
        paymentId: key.pk.slice('PAYMENT#'.length),
        isSpent: true,
      })
  })

  const isShown = ({ requestId, paymentId, isSpent }: Created) =>
    isSpent !== true && paymentRow(world, paymentId)?.['payment_request_id'] === requestId

  world.onEnded.push((process, how) => {
    const mine = known.get(process) ?? []
    known.delete(process)
    if (how === 'died' || troubled.has(process) || world.sharing.has(process)) return
    for (const created of mine) {
      if (asked.has(created.requestId) || isShown(created) || !isPayable(world, created.requestId))
        continue
      world.problems.push(
        `${process.name} left the unneeded ${created.requestId} of ${created.paymentId} payable`,
      )
    }
  })

  return () =>
    world.provider.storedRequests().flatMap(({ id, request }) => {
      // At rest every request that the gateway did not close has expired.
      if ((!isOpen(request) && request.status !== 'EXPIRED') || asked.has(id)) return []
      const [, paymentId = '', attempt] = REFERENCE.exec(request.reference_id) ?? []
      const payment = paymentRow(world, paymentId)
      const isOwn = payment?.['payment_request_id'] === id
      const attempts = (payment?.['provider_attempts'] ?? []) as readonly {
        number: number
        outcome: string
      }[]
      const isReported = attempts.some(
        ({ number, outcome }) =>
          number === Number(attempt) && ['started', 'unknown'].includes(outcome),
      )
      return isOwn || isReported
        ? []
        : [
            `no worker has cancelled ${id} of ${paymentId}, and no attempt says that it may be there`,
          ]
    })
}

function beginsAttempt(step: Step) {
  if (step.kind === 'put') return step.item['status'] === 'creating'
  return step.kind === 'update' && step.changes.set?.['leaseUntil'] !== undefined
}

function createdBy({ method, path, outcome }: ProviderAnswer): Created | undefined {
  if (method !== 'POST' || path !== '/v3/payment_requests') return undefined
  if (outcome.kind !== 'answered' || outcome.status >= 300) return undefined
  const { payment_request_id: requestId, reference_id: reference } = Object(outcome.json)
  const [, paymentId, attempt] = REFERENCE.exec(String(reference)) ?? []
  return paymentId === undefined
    ? undefined
    : { requestId: String(requestId), paymentId, attempt: Number(attempt) }
}

const PUSHED = 'OVO'

/** By when the provider shows the row of a payment. */
const SHOWN_MS = 3 * 60_000

/** At rest: no push began while the last one could still be answered, or after it was paid. */
export function watchPushes(world: World) {
  watchLeases(world)
  return () => {
    const shown = world.provider.capturedPayments().filter(({ id }) => !world.unshownRows.has(id))
    const paid = new Map(shown.map(({ id, amount }) => [id, amount]))
    const pushed = world.provider
      .storedRequests()
      .filter(({ request }) => request.channel_code === PUSHED)
    const pushes = Map.groupBy(pushed, ({ request }) => REFERENCE.exec(request.reference_id)?.[1])
    return [...pushes].flatMap(([paymentId, ofOne]) => {
      const inOrder = ofOne.toSorted(
        (one, other) => Date.parse(one.request.created) - Date.parse(other.request.created),
      )
      return inOrder.slice(1).flatMap(({ id, request: { created } }, at) => {
        const former = inOrder[at]
        if (paymentId === undefined || former === undefined) return []
        const { request, expiresAtMs } = former
        const [fromMs, endedMs] = [Date.parse(created), Date.parse(request.updated)]
        const isOpenYet = ['PENDING', 'EXPIRED'].includes(request.status)
        if ((isOpenYet ? expiresAtMs : Math.min(endedMs, expiresAtMs)) > fromMs + world.apartMs)
          return [`${id} of ${paymentId} was pushed while ${former.id} could still be answered`]
        const wasPaid = paid.get(String(request.latest_payment_id)) === request.request_amount
        return wasPaid && endedMs + SHOWN_MS < fromMs
          ? [`${id} of ${paymentId} was pushed although ${former.id} had been paid`]
          : []
      })
    })
  }
}

/** Checked when a push leaves: a worker that was frozen sends none after its lease has expired. */
function watchLeases(world: World) {
  world.onAsked.push((_, method, path, body) => {
    const reference =
      method === 'POST' && path === '/v3/payment_requests' ? String(Object(body).reference_id) : ''
    const payment = paymentOfReference(world, reference)
    if (payment?.['status'] !== 'creating') return
    if ((Object(payment['request']).channelCode ?? payment['channel_code']) !== PUSHED) return
    const isIts = reference === `${reference.slice(0, 36)}-${text(payment, 'attempt')}`
    if (
      !isIts ||
      Date.parse(text(payment, 'lease_until')) + world.apartMs < world.scheduler.nowMs()
    )
      world.problems.push(`${reference} is pushed after its lease`)
  })
}
