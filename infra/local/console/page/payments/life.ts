import { counted, rupiah, words } from '../../story/story-line.ts'
import type { Delivery, Timeline } from '../shapes.ts'

type Moment = {
  /** Missing if only the state is known. */
  readonly at?: string
  readonly tone: 'good' | 'bad' | 'plain'
  readonly text: string
  readonly detail?: string
}

const moment = (at: string, tone: Moment['tone'], text: string, detail?: string | null): Moment => ({
  at,
  tone,
  text,
  ...(detail && { detail }),
})

const heard = (source: string) => `heard by ${words(source)}`

const ofDelivery = ({ url, attempts, status, next_attempt_at: next }: Delivery): Moment[] => [
  ...attempts.map(({ at, number, http_status: answer, error, duration_ms: took }) => {
    const said = answer === null ? (error ?? 'no answer') : `answered ${answer}`
    return moment(at, error === null ? 'good' : 'bad', `Webhook, attempt ${number}: ${said}`, `in ${took} ms · ${url}`)
  }),
  ...(status === 'scheduled' && next !== null ? [moment(next, 'plain', 'Next attempt', url)] : []),
]

/** The moments of a payment, from its creation, in the order of the local clock. States without a time come last. */
export const lifeOf = ({ timeline, notional_minor: amount, reversal, ...payment }: Timeline): readonly Moment[] => {
  const moments: readonly Moment[] = [
    ...timeline.provider_attempts
      .filter(({ outcome }) => outcome !== 'created')
      .map(({ started_at: at, number, outcome, code }) =>
        moment(at, 'bad', `Create at the provider, attempt ${number}: ${words(outcome)}`, code),
      ),
    ...timeline.transitions.map(({ status, at, source, failure_reason: reason }) => {
      if (status === 'pending') return moment(at, 'plain', `Created: ${rupiah(amount)}`)
      if (status === 'succeeded') return moment(at, 'good', 'Paid and credited', heard(source))
      const why = reason === undefined ? '' : `, ${words(reason)}`
      return moment(at, 'bad', `Ended: ${status}${why}`, heard(source))
    }),
    ...timeline.events.flatMap(({ event, fired_at: at, deliveries }) => [
      moment(at, 'plain', `Event ${event}`, `to ${counted(deliveries.length, 'endpoint')}`),
      ...deliveries.flatMap(ofDelivery),
    ]),
    ...timeline.settlements.flatMap(({ settlement_id: id, status, settled_at: at }) =>
      at === null ? [] : [moment(at, status === 'failed' ? 'bad' : 'good', `Settlement ${words(status)}`, id)],
    ),
    ...timeline.suspense.map(({ created_at: at, kind, cause, suspense_id: id }) =>
      moment(at, 'bad', `In suspense: ${kind}, ${words(cause)}`, id),
    ),
    ...(reversal ? [moment(reversal.at, 'bad', `${rupiah(reversal.amount_minor)} went back`, reversal.kind)] : []),
  ]
  const { status, fee_status: fee, xendit_fee_minor: minor } = payment
  const isFinal = status === 'succeeded' && fee !== 'estimated'
  const waiting = timeline.settlements.filter(({ settled_at: settled }) => settled === null)
  return [
    ...moments.toSorted(({ at: a = '' }, { at: b = '' }) => (a < b ? -1 : Number(a > b))),
    ...(isFinal ? [{ tone: 'good' as const, text: 'Its fee is final', detail: `${rupiah(minor)}, ${fee}` }] : []),
    ...waiting.map(({ settlement_id: id }) => ({ tone: 'good' as const, text: 'Settlement recorded', detail: id })),
  ]
}
