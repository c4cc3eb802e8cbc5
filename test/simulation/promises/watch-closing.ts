import { isOpen } from '../../../infra/local/provider-simulator/provider-objects.ts'
import { type RawItem, text } from '../../support/recount/books.ts'
import type { ProviderAnswer } from '../world/listeners.ts'
import type { Process } from '../world/process.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import { onCancel } from '../world/rows.ts'
import { APART_MS, isChanged, ms, onWorkersWrite, type Rules, watchRules } from '../world/rules.ts'
import { addTo, type World } from '../world/world.ts'

const CLOSED = ['failed', 'expired', 'cancelled']

/** Whether the provider accepts money for a request at this moment. */
export const isPayable = ({ provider, scheduler }: World, requestId: string): boolean => {
  const record = provider.storedRequest(requestId)
  return record !== undefined && isOpen(record.request) && record.expiresAtMs > scheduler.nowMs()
}

/** Whether a request was paid in time, with the amount asked for. */
const isPaid = ({ provider }: World, requestId: string): boolean => {
  const request = provider.storedRequest(requestId)?.request
  const captured = provider.capturedPayments().find(({ id }) => id === request?.latest_payment_id)
  return request?.status === 'SUCCEEDED' && captured?.amount === request.request_amount
}

/** A payment's request at the provider. Undefined if the provider's answers may be old. */
const requestOf = ({ provider, faults }: World, payment: RawItem) =>
  faults.providerStale > 0 || faults.providerBehind > 0
    ? undefined
    : provider.storedRequest(text(payment, 'payment_request_id'))?.request

/** The request was paid. If that was another amount, the payment fails even after its end. */
const hasMoney = (world: World, payment: RawItem): boolean =>
  world.provider.capturedPayments().some(({ id }) => id === requestOf(world, payment)?.latest_payment_id)

/** Ends that contradict the provider's books, or what the payment noted before. */
const wrongEnds: Rules = {
  'is failed although we cancelled it': ({ world, after }) =>
    after['status'] === 'failed' &&
    (after['cancel_requested_at'] ?? after['expiry_started_at']) !== undefined &&
    requestOf(world, after)?.status === 'CANCELED' &&
    !hasMoney(world, after),
  'is expired although its merchant cancelled it before': ({ world, after }) => {
    const { status, updated = '' } = requestOf(world, after) ?? {}
    const isCancelled = after['cancel_requested_at'] !== undefined && status === 'CANCELED'
    return (
      after['status'] === 'expired' && isCancelled && ms(after, 'expiry_started_at') > Date.parse(updated) + APART_MS
    )
  },
}

/** Checked when a payment ends without money: it can no longer be paid, and it notes for which actor it was closed. */
export const watchClosing = (world: World): void => {
  const refused = new Set<string>()

  // An answer that the provider is busy or broken refuses no cancel.
  world.onAnswered.push((_, { method, path, outcome }) => {
    const id = cancelledRequest(method, path)
    if (id !== undefined && outcome.kind === 'answered' && [400, 404, 409].includes(outcome.status)) refused.add(id)
  })

  onCancel(world, (id, payment) => {
    if (payment?.['status'] !== 'pending' || payment['payment_request_id'] !== id) return
    if (payment['cancel_requested_at'] === undefined && payment['expiry_started_at'] === undefined)
      world.problems.push(`${id} is cancelled, and its payment does not note for which actor`)
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
  watchRules(world, ({ sk }, write) => (sk === 'PAYMENT' && isChanged(write, 'status') ? ends : undefined))

  watchCaptures(world)
}

const ASKED = /^\/v3\/(payments|payment_requests)\/([^/]+)$/

const isAnswered = ({ outcome }: ProviderAnswer) =>
  outcome.kind === 'answered' && (outcome.status < 300 || [400, 404, 409].includes(outcome.status))

/** Checked when a payment ends without money: its worker also asked about a capture that the request names. */
const watchCaptures = (world: World): void => {
  /** The capture that each request named in a process's last answer, and the captures that the process asked about. */
  const named = new WeakMap<Process, Map<string, string | undefined>>()
  const known = new WeakMap<Process, Set<string>>()

  world.onAnswered.push((process, answer) => {
    const { method, path, outcome } = answer
    const [, kind, id = ''] = ASKED.exec(path) ?? []
    if (kind === 'payments' && isAnswered(answer)) addTo(known, process, id)
    const requestId = kind === 'payment_requests' ? id : cancelledRequest(method, path)
    if (requestId === undefined) return
    const latest: string | undefined =
      kind === 'payment_requests' && outcome.kind === 'answered' ? Object(outcome.json).latest_payment_id : undefined
    named.set(process, (named.get(process) ?? new Map<string, string | undefined>()).set(requestId, latest))
  })

  onWorkersWrite(world, / PAYMENT$/, (write) => {
    const { key, after, worker } = write
    const status = text(after, 'status')
    const latest = named.get(worker)?.get(text(after, 'payment_request_id'))
    const asked = known.get(worker)
    // Money of a wrong amount fails a payment. The unfinished work of another process asked under that one's name.
    const isByMoney = status === 'failed' && asked !== undefined
    if (!isChanged(write, 'status') || !CLOSED.includes(status) || isByMoney || world.sharing.has(worker)) return
    if (latest !== undefined && asked?.has(latest) !== true)
      world.problems.push(`${key.pk} is ${status}, and its worker did not ask about its money`)
  })
}
