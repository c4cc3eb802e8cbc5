import type * as v from 'valibot'
import { HOUR_MS } from '../../../../../shared/time.ts'
import { ActionButton } from '../action-button.tsx'
import { apiPost, CLOCK_CALL, invoke, withClientId } from '../calls.ts'
import { useLoad, useRead } from '../gateway.ts'
import { jakartaMinute } from '../jakarta.ts'
import { Card, Empty, ReadResult } from '../parts.tsx'
import { type Column, StackedBars, summed } from '../pictures/stacked-bars.tsx'
import { readAllPages } from '../read-pages.ts'
import { ClockSchema, DeliveriesSchema, type Delivery, type EndpointsSchema } from '../shapes.ts'

const HOURS = 24

const OUTCOMES = ['succeeded', 'scheduled', 'abandoned', 'skipped'] as const

const PER_PAGE = 100
const MAX_PAGES = 5

type DeliveryStripProps = { readonly endpoints: v.InferOutput<typeof EndpointsSchema>['data'] }

/** The deliveries of a day by hour and outcome, and one button that sends all missed ones again. */
export function DeliveryStrip({ endpoints }: DeliveryStripProps) {
  const { value: clock } = useRead(ClockSchema, CLOCK_CALL)
  const read = useLoad('deliveries', () =>
    readAllPages({
      schema: DeliveriesSchema,
      most: MAX_PAGES,
      callOf: (page) => invoke('list-deliveries', withClientId({ per_page: PER_PAGE, page })),
      hasNext: ({ data }) => data.length === PER_PAGE,
    }),
  )
  return (
    <Card
      title="A day of deliveries"
      note="Each hour’s deliveries by their outcome so far."
      call={invoke('list-deliveries', withClientId({ per_page: PER_PAGE }))}
    >
      <ReadResult read={read}>
        {({ pages }) =>
          clock && (
            <Strip deliveries={pages.flatMap(({ data }) => data)} nowMs={Date.parse(clock.now)} />
          )
        }
      </ReadResult>
      <p class="line">
        {endpoints
          .filter(({ enabled }) => enabled)
          .map(({ endpoint_id: id, url }) => (
            <ActionButton
              key={id}
              label="Resend all"
              about={`missed webhooks of ${url}`}
              call={apiPost(`webhook_endpoints/${id}/redeliver`, { since: LONG_AGO })}
            />
          ))}
        <span class="muted">starts a new round for all that was abandoned or skipped</span>
      </p>
    </Card>
  )
}

/** Before every event of a local gateway. */
const LONG_AGO = '2020-01-01T00:00:00.000Z'

type StripProps = { readonly deliveries: readonly Delivery[]; readonly nowMs: number }

function Strip({ deliveries, nowMs }: StripProps) {
  const thisHour = Math.floor(nowMs / HOUR_MS)
  const byHour = Map.groupBy(deliveries, ({ created_at: at }) =>
    Math.floor(Date.parse(at) / HOUR_MS),
  )
  const columns = Array.from({ length: HOURS }, (_, index): Column => {
    const hour = thisHour - (HOURS - 1 - index)
    return {
      name: jakartaMinute(new Date(hour * HOUR_MS).toISOString()),
      values: summed(byHour.get(hour) ?? [], statusOf, () => 1),
    }
  })
  if (columns.every(({ values }) => values.size === 0))
    return <Empty>No delivery in the last 24 hours.</Empty>
  return (
    <StackedBars
      columns={columns}
      series={OUTCOMES.map((name) => ({ name, tone: name }))}
      show={String}
      caption="Deliveries by hour and outcome"
      head="Hour"
      height={64}
    />
  )
}

function statusOf({ status }: Delivery): string {
  return status
}
