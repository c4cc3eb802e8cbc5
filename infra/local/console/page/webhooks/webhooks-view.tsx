import { useState } from 'preact/hooks'
import type * as v from 'valibot'
import type { ConsoleCall } from '../../console-call.ts'
import { ActionButton } from '../action-button.tsx'
import { api, invoke, operate, type Read, useRead, withClientId } from '../gateway.ts'
import {
  Card,
  Detail,
  NamedValues,
  ReadResult,
  Rows,
  SelectField,
  Status,
  Time,
} from '../parts.tsx'
import {
  EndpointsSchema,
  EventsSchema,
  OwnDeliverySchema,
  ReceivedSchema,
  TimelineSchema,
} from '../shapes.ts'
import { DeliveryList, DeliveryState } from './delivery-list.tsx'
import { DeliveryStrip } from './delivery-strip.tsx'

export function WebhooksView({ selectedId }: { readonly selectedId: string | undefined }) {
  return selectedId === undefined ? (
    <Deliveries />
  ) : (
    <DeliveryDetail key={selectedId} id={selectedId} />
  )
}

function Deliveries() {
  const call = invoke('list-endpoints', withClientId())
  const endpoints = useRead(EndpointsSchema, call)
  return (
    <div class="split even">
      <div>
        <Endpoints call={call} read={endpoints} />
        <InboxCard />
      </div>
      <div>
        <DeliveryStrip endpoints={endpoints.value?.data ?? []} />
        <DeliveryList />
      </div>
    </div>
  )
}

type EndpointsProps = {
  readonly call: ConsoleCall
  readonly read: Read<v.InferOutput<typeof EndpointsSchema>>
}

function Endpoints({ call, read }: EndpointsProps) {
  return (
    <Card
      title="Endpoints"
      note="The gateway sends the merchant’s events to these addresses."
      call={call}
    >
      <ReadResult read={read}>
        {({ data }) => (
          <Rows
            items={data}
            empty="No endpoint. Register one with npm run admin -- register-endpoint."
          >
            {({ endpoint_id: id, url, enabled, event_types: types }) => (
              <li key={id} class="item">
                <p class="line">
                  <code>{url}</code> <Status status={enabled ? 'enabled' : 'disabled'} />
                  <span class="muted">{types.includes('*') ? 'all events' : types.join(', ')}</span>
                </p>
                <p class="line">
                  <ActionButton
                    label="Send test event"
                    about={`to ${url}`}
                    call={operate('send-test-event', withClientId({ endpoint_id: id }))}
                  />
                  <ActionButton
                    label={enabled ? 'Disable' : 'Enable'}
                    about={url}
                    call={operate(
                      'update-endpoint',
                      withClientId({ endpoint_id: id, enabled: !enabled }),
                    )}
                  />
                </p>
              </li>
            )}
          </Rows>
        )}
      </ReadResult>
    </Card>
  )
}

type OwnDelivery = v.InferOutput<typeof OwnDeliverySchema>

function DeliveryDetail({ id }: { readonly id: string }) {
  return (
    <Detail list="#webhooks" label="All deliveries">
      <ReadResult
        title="Delivery"
        read={useRead(OwnDeliverySchema, api(`webhook_deliveries/${id}`))}
      >
        {(delivery) => <DeliveryCards delivery={delivery} />}
      </ReadResult>
    </Detail>
  )
}

function DeliveryCards({ delivery }: { readonly delivery: OwnDelivery }) {
  const { id, event, status, payment_id: paymentId } = delivery
  return (
    <>
      <Card title={`Delivery of ${event}`} call={api(`webhook_deliveries/${id}`)}>
        <p class="line">
          <Status status={status} /> <Time at={delivery.created_at} /> <code>{id}</code>
        </p>
        <DeliveryState id={id} delivery={delivery} about={event}>
          {paymentId !== undefined && <a href={`#payments/${paymentId}`}>its payment</a>}
        </DeliveryState>
      </Card>
      <Request delivery={delivery} />
    </>
  )
}

const NOT_STORED = 'new for each attempt, and not stored'

/** The sample inbox has recorded all requests that it received. */
function Request({ delivery }: { readonly delivery: OwnDelivery }) {
  const body = useBody(delivery)
  const { value: received } = useReceived()
  const latest = received?.findLast(
    ({ headers }) => headers['x-gateway-delivery-id'] === delivery.id,
  )
  const headers = latest?.headers ?? {
    'content-type': 'application/json',
    'x-gateway-event': delivery.event,
    'x-gateway-delivery-id': delivery.id,
    'webhook-id': delivery.event_id,
    'x-gateway-signature': NOT_STORED,
    'webhook-timestamp': NOT_STORED,
    'webhook-signature': NOT_STORED,
  }
  return (
    <Card
      title="The request"
      note={
        latest
          ? 'The latest request that the inbox received.'
          : 'Each attempt sends this. The inbox did not receive it.'
      }
    >
      <h3>Headers</h3>
      <NamedValues values={headers} />
      <h3>Body</h3>
      <code class="long">
        {latest?.body ?? body ?? 'The gateway does not keep the body of a test event.'}
      </code>
    </Card>
  )
}

/** The exact bytes from the event feed, read from the time of the event. */
function useBody({ id, event_id: eventId, payment_id: paymentId }: OwnDelivery) {
  const { value: payment } = useRead(
    TimelineSchema,
    paymentId === undefined ? undefined : invoke('get-payment', { payment_id: paymentId }),
  )
  const event = payment?.timeline.events.find(({ deliveries }) =>
    deliveries.some((delivery) => delivery.delivery_id === id),
  )
  const { value: events } = useRead(
    EventsSchema,
    event && api(`events?since=${event.fired_at}&limit=100`),
  )
  const feedEvent = events?.data.find((entry) => entry.event_id === eventId)
  return feedEvent && JSON.stringify(feedEvent)
}

const BEHAVIOURS: Readonly<Record<string, readonly [label: string, body: object]>> = {
  good: ['200, at once', {}],
  error: ['500', { status: 500 }],
  slow: ['200 after 3 seconds', { delay_ms: 3_000 }],
  hang: ['no answer', { hang: true }],
  close: ['a closed connection', { close: true }],
}

const OPTIONS = Object.entries(BEHAVIOURS).map(([value, [label]]) => [value, label] as const)

const RECEIVED_CALL: ConsoleCall = { port: 'inbox', method: 'GET', path: '/received' }
const SHOWN_WEBHOOKS = 6

function InboxCard() {
  const [behaviour, setBehaviour] = useState('good')
  const [, body] = BEHAVIOURS[behaviour] ?? ['', {}]
  const call: ConsoleCall = { port: 'inbox', method: 'POST', path: '/behaviour', body }
  return (
    <Card
      title="The merchant’s server"
      note="The sample inbox checks each signature with the endpoint’s secret."
      call={RECEIVED_CALL}
    >
      <div class="line">
        <SelectField
          label="It answers webhooks with"
          value={behaviour}
          options={OPTIONS}
          onChoose={setBehaviour}
        />
        <ActionButton label="Set" about="how webhooks are answered" call={call} />
      </div>
      <ReceivedWebhooks />
    </Card>
  )
}

function ReceivedWebhooks() {
  return (
    <ReadResult read={useReceived()}>
      {(received) => (
        <Rows
          items={[...received.entries()].toReversed().slice(0, SHOWN_WEBHOOKS)}
          empty="No webhook received yet."
        >
          {([place, { at, headers, body, signature_valid: valid }]) => (
            <li key={place} class="item">
              <p class="line">
                <strong>{String(headers['x-gateway-event'])}</strong>
                <span class={`status ${valid === true ? 'good' : 'bad'}`}>{verdict(valid)}</span>{' '}
                <Time at={at} />
              </p>
              <details>
                <summary>Body</summary>
                <code class="long">{body}</code>
              </details>
            </li>
          )}
        </Rows>
      )}
    </ReadResult>
  )
}

function useReceived() {
  return useRead(ReceivedSchema, RECEIVED_CALL)
}

function verdict(valid: boolean | null) {
  return valid === null ? 'no secret known' : valid ? 'signature verified' : 'signature wrong'
}
