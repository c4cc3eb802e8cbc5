import { type RawItem, text } from '../../support/recount/books.ts'
import type { Observations } from '../watching/observations.ts'
import type { ProviderAnswer } from '../world/listeners.ts'
import { namesOf, type Process } from '../world/process.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import { paymentRow } from '../world/rows.ts'
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
    world.provider.requestsAsTheyStand().flatMap(({ id, request }) => {
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
