import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ActionButton } from '../action-button.tsx'
import { invoke, operate, useRead, withClientId } from '../gateway.ts'
import { Card, ReadResult, Rows, SelectField, Status, Time } from '../parts.tsx'
import { DeliveriesSchema, type Delivery, type DeliveryFields } from '../shapes.ts'

const STATUSES = [
  ['', 'all'] as const,
  ...['scheduled', 'succeeded', 'abandoned', 'skipped'].map((status) => [status, status] as const),
]

const RETRY_NOTE =
  'Up to eight attempts: at once, then after 1, 2, 4 … 64 minutes. Jump the clock to see them.'

export function DeliveryList() {
  const [status, setStatus] = useState('')
  const call = invoke(
    'list-deliveries',
    withClientId({ per_page: 10, ...(status !== '' && { status }) }),
  )
  const read = useRead(DeliveriesSchema, call)
  return (
    <Card title="Deliveries" note={RETRY_NOTE} call={call}>
      <SelectField label="Show" value={status} options={STATUSES} onChoose={setStatus} />
      <ReadResult read={read}>
        {({ data }) => (
          <Rows items={data} empty="No delivery. A paid payment creates one for each endpoint.">
            {(delivery) => <Row key={delivery.delivery_id} delivery={delivery} />}
          </Rows>
        )}
      </ReadResult>
    </Card>
  )
}

function Row({ delivery }: { readonly delivery: Delivery }) {
  const { delivery_id: id, event, status, created_at: at } = delivery
  return (
    <li class="item">
      <p class="line">
        <a href={`#webhooks/${id}`}>{event}</a> <Status status={status} /> <Time at={at} />
      </p>
      <DeliveryState id={id} delivery={delivery} about={`${event} of ${at}`} />
    </li>
  )
}

type DeliveryStateProps = {
  readonly id: string
  readonly delivery: DeliveryFields
  /** Tells the page's deliveries apart for screen readers. */
  readonly about: string
  readonly children?: ComponentChildren
}

export function DeliveryState({ id, delivery, about, children }: DeliveryStateProps) {
  return (
    <>
      <p class="line muted">
        <code>{delivery.url}</code>
        {children}
        {delivery.next_attempt_at !== null && (
          <span>
            next attempt <Time at={delivery.next_attempt_at} />
          </span>
        )}
      </p>
      <Attempts attempts={delivery.attempts} />
      <ActionButton
        label="Redeliver"
        about={about}
        disabled={delivery.status === 'scheduled'}
        call={operate('redeliver', withClientId({ delivery_id: id }))}
      />
    </>
  )
}

function Attempts({ attempts }: Pick<DeliveryFields, 'attempts'>) {
  return (
    <ol class="attempts">
      {attempts.map(
        ({
          number,
          at,
          http_status: answer,
          error,
          duration_ms: durationMs,
          response_body: body,
        }) => (
          <li key={number} class={error === null ? 'good' : 'bad'}>
            <Time at={at} />{' '}
            {answer === null ? error : `${answer}${error === null ? '' : ` (${error})`}`}{' '}
            <span class="muted">in {durationMs} ms</span>
            {body !== null && body !== '' && <code class="long">{body}</code>}
          </li>
        ),
      )}
    </ol>
  )
}
