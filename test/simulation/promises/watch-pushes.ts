import type { World } from '../world/world.ts'

const REFERENCE = /^([0-9a-f-]{36})-(\d+)$/

/** What one machine's clock may say of a moment, and another's. */
const clocksApartMs = ({ faults }: World): number => 2 * faults.clockSkewMs

/** By when the provider shows the row of a payment. */
const SHOWN_MS = 3 * 60_000

type Push = {
  readonly id: string
  readonly fromMs: number
  readonly untilMs: number
  /** When it was paid, what was asked for. */
  readonly paidMs: number
}

/**
 * Two pushes of one payment on a customer's phone at once could both be answered: whatever the provider has made, none
 * begins before the one before it could be answered no more, nor once that has been paid. Answers what was wrong once everything rests.
 */
export const watchPushes = (world: World): (() => readonly string[]) => {
  let apartMs = 0
  world.onStarted.push(() => {
    apartMs = Math.max(apartMs, clocksApartMs(world))
  })
  return () => {
    const shown = world.provider.capturedPayments().filter(({ id }) => !world.unshownRows.has(id))
    const paid = new Map(shown.map(({ id, amount }) => [id, amount]))
    const pushes = new Map<string, Push[]>()
    for (const { id, request, expiresAtMs } of world.provider.requestsAsTheyStand()) {
      const [, paymentId] = REFERENCE.exec(request.reference_id) ?? []
      if (paymentId === undefined || request.channel_code !== 'OVO') continue
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
        if (former && former.untilMs > fromMs + apartMs)
          return [`${id} of ${paymentId} was pushed while ${former.id} could still be answered`]
        return former && former.paidMs + SHOWN_MS < fromMs
          ? [`${id} of ${paymentId} was pushed although ${former.id} had been paid`]
          : []
      })
    })
  }
}
