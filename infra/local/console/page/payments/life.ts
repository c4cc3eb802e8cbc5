import { counted, rupiah } from '../../story/story-line.ts'
import type { Delivery, Timeline } from '../shapes.ts'

type Moment = {
  /** Missing if only the state is known. */
  readonly at?: string
  readonly tone: 'good' | 'bad' | 'plain'
  readonly text: string
  readonly detail?: string
}

const heard = (source: string) => `heard by ${source.replaceAll('_', ' ')}`

const ofDelivery = ({ url, attempts, status, next_attempt_at: next }: Delivery): Moment[] => [
  ...attempts.map(({ at, number, http_status: answer, error, duration_ms: took }): Moment => {
    const said = answer === null ? (error ?? 'no answer') : `answered ${answer}`
    return {
      at,
      tone: error === null ? 'good' : 'bad',
      text: `Webhook, attempt ${number}: ${said}`,
      detail: `in ${took} ms · ${url}`,
    }
  }),
  ...(status === 'scheduled' && next !== null
    ? [{ at: next, tone: 'plain' as const, text: 'Next attempt', detail: url }]
    : []),
]

/** The moments of a payment, from its creation, in the order of the local clock. */
export const lifeOf = ({ timeline, notional_minor: amount, ...payment }: Timeline): readonly Moment[] => {
  const moments: Moment[] = [
    ...timeline.provider_attempts
      .filter(({ outcome }) => outcome !== 'created')
      .map(
        ({ started_at: at, number, outcome, code }): Moment => ({
          at,
          tone: 'bad',
          text: `Create at the provider, attempt ${number}: ${outcome.replaceAll('_', ' ')}`,
          ...(code !== null && { detail: code }),
        }),
      ),
    ...timeline.transitions.map(({ status, at, source, failure_reason: reason }): Moment => {
      if (status === 'pending') return { at, tone: 'plain', text: `Created: ${rupiah(amount)}` }
      if (status === 'succeeded') return { at, tone: 'good', text: 'Paid and credited', detail: heard(source) }
      const why = reason === undefined ? '' : `, ${reason.replaceAll('_', ' ')}`
      return { at, tone: 'bad', text: `Ended: ${status}${why}`, detail: heard(source) }
    }),
    ...timeline.events.flatMap(({ event, fired_at: at, deliveries }): Moment[] => [
      { at, tone: 'plain', text: `Event ${event}`, detail: `to ${counted(deliveries.length, 'endpoint')}` },
      ...deliveries.flatMap(ofDelivery),
    ]),
    ...timeline.settlements.flatMap(({ settlement_id: id, status, settled_at: at }): Moment[] =>
      at === null
        ? []
        : [
            {
              at,
              tone: status === 'failed' ? 'bad' : 'good',
              text: `Settlement ${status.replaceAll('_', ' ')}`,
              detail: id,
            },
          ],
    ),
    ...timeline.suspense.map(
      ({ created_at: at, kind, cause, suspense_id: id }): Moment => ({
        at,
        tone: 'bad',
        text: `In suspense: ${kind}, ${cause.replaceAll('_', ' ')}`,
        detail: id,
      }),
    ),
  ]
  if (payment.reversal) {
    const { at, kind, amount_minor: back } = payment.reversal
    moments.push({ at, tone: 'bad', text: `${rupiah(back)} went back`, detail: kind })
  }
  return [
    ...moments.toSorted(({ at: a = '' }, { at: b = '' }) => (a < b ? -1 : Number(a > b))),
    ...openEnds(timeline, payment),
  ]
}

/** States without a time. They come last. */
const openEnds = (
  timeline: Timeline['timeline'],
  payment: Pick<Timeline, 'status' | 'fee_status' | 'xendit_fee_minor'>,
) => {
  const { status, fee_status: fee, xendit_fee_minor: minor } = payment
  const isFinal = status === 'succeeded' && fee !== 'estimated'
  const waiting = timeline.settlements.filter(({ settled_at: settled }) => settled === null)
  return [
    ...(isFinal ? [{ tone: 'good' as const, text: 'Its fee is final', detail: `${rupiah(minor)}, ${fee}` }] : []),
    ...waiting.map(({ settlement_id: id }) => ({ tone: 'good' as const, text: 'Settlement recorded', detail: id })),
  ]
}
