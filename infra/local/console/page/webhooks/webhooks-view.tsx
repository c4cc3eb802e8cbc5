import type * as v from 'valibot'
import type { ConsoleCall } from '../../console-call.ts'
import { ActionButton } from '../action-button.tsx'
import { invoke, operate, withClientId } from '../calls.ts'
import { type Read, useRead } from '../gateway.ts'
import { Card, ReadResult, Rows, Status } from '../parts.tsx'
import { EndpointsSchema } from '../shapes.ts'
import { DeliveryDetail } from './delivery-detail.tsx'
import { DeliveryList } from './delivery-list.tsx'
import { DeliveryStrip } from './delivery-strip.tsx'
import { InboxCard } from './inbox-card.tsx'

/**
 * The endpoints, the deliveries with their attempts, and the sample merchant's inbox; or one
 * delivery.
 */
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
