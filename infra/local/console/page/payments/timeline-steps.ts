import { countOf, rupiah, words } from '../../activity/activity-line.ts'
import type { Delivery, Timeline } from '../shapes.ts'

type Step = {
  /** Missing if the step's time is unknown. */
  readonly at?: string
  readonly tone: 'good' | 'bad' | 'plain'
  readonly text: string
  readonly detail?: string
}

/** In the order of the local clock. Steps without a time come last. */
export function timelineSteps({ timeline, reversal, ...payment }: Timeline): readonly Step[] {
  const steps: readonly Step[] = [
    ...timeline.provider_attempts
      .filter(({ outcome }) => outcome !== 'created')
      .map(({ started_at: at, number, outcome, code }) =>
        step(at, 'bad', `Create at the provider, attempt ${number}: ${words(outcome)}`, code),
      ),
    ...timeline.transitions.map(({ status, at, source, failure_reason: reason }) => {
      if (status === 'pending')
        return step(at, 'plain', `Created: ${rupiah(payment.notional_minor)}`)
      if (status === 'succeeded') return step(at, 'good', 'Paid and credited', reportedBy(source))
      const reasonText = reason === undefined ? '' : `, ${words(reason)}`
      return step(at, 'bad', `Ended: ${status}${reasonText}`, reportedBy(source))
    }),
    ...timeline.events.flatMap(({ event, fired_at: at, deliveries }) => [
      step(at, 'plain', `Event ${event}`, `to ${countOf(deliveries.length, 'endpoint')}`),
      ...deliveries.flatMap(deliverySteps),
    ]),
    ...timeline.settlements.flatMap(({ settlement_id: id, status, settled_at: at }) =>
      at === null ? [] : [step(at, 'good', `Settlement ${words(status)}`, id)],
    ),
    ...timeline.suspense.map(({ created_at: at, kind, cause, suspense_id: id }) =>
      step(at, 'bad', `In suspense: ${kind}, ${words(cause)}`, id),
    ),
    ...(reversal
      ? [step(reversal.at, 'bad', `${rupiah(reversal.amount_minor)} was reversed`, reversal.kind)]
      : []),
  ]
  const { status, fee_status: fee, xendit_fee_minor: minor } = payment
  const isFinal = status === 'succeeded' && fee !== 'estimated'
  const openSettlements = timeline.settlements.filter(
    ({ settled_at: settledAt }) => settledAt === null,
  )
  return [
    ...steps.toSorted(({ at: a = '' }, { at: b = '' }) => (a < b ? -1 : Number(a > b))),
    ...(isFinal
      ? [{ tone: 'good' as const, text: 'The fee is final', detail: `${rupiah(minor)}, ${fee}` }]
      : []),
    ...openSettlements.map(({ settlement_id: id, status: settled }) => ({
      tone: settled === 'recorded' ? ('good' as const) : ('bad' as const),
      text: `Settlement ${words(settled)}`,
      detail: id,
    })),
  ]
}

function step(at: string, tone: Step['tone'], text: string, detail?: string | null): Step {
  return { at, tone, text, ...(detail && { detail }) }
}

function reportedBy(source: string) {
  return `reported by ${words(source)}`
}

function deliverySteps({ url, attempts, status, next_attempt_at: next }: Delivery) {
  return [
    ...attempts.map(({ at, number, http_status: answer, error, duration_ms: durationMs }) => {
      const result = answer === null ? (error ?? 'no answer') : `answered ${answer}`
      return step(
        at,
        error === null ? 'good' : 'bad',
        `Webhook, attempt ${number}: ${result}`,
        `in ${durationMs} ms · ${url}`,
      )
    }),
    ...(status === 'scheduled' && next !== null ? [step(next, 'plain', 'Next attempt', url)] : []),
  ]
}
