import { useContext } from 'preact/hooks'
import * as v from 'valibot'
import { HOUR_MS } from '../../../../../shared/time.ts'
import { countOf } from '../../activity/activity-line.ts'
import { WorkButton } from '../action-button.tsx'
import { apiPost, doCall, invoke, useClock, useLoad, withClientId } from '../gateway.ts'
import { jakartaMinute } from '../jakarta.ts'
import { NoticeContext } from '../notice.tsx'
import { Card, Empty, ReadResult } from '../parts.tsx'
import { type Column, StackedBars, summed } from '../pictures/stacked-bars.tsx'
import { readAllPages } from '../read-pages.ts'
import {
  DeliveriesSchema,
  type Delivery,
  type EndpointsSchema,
  hasNext,
  PER_PAGE,
} from '../shapes.ts'

const HOURS = 24

const OUTCOMES = ['succeeded', 'scheduled', 'abandoned', 'skipped'] as const

const MAX_PAGES = 5

type DeliveryStripProps = { readonly endpoints: v.InferOutput<typeof EndpointsSchema>['data'] }

export function DeliveryStrip({ endpoints }: DeliveryStripProps) {
  const clock = useClock()
  const read = useLoad('deliveries', () =>
    readAllPages({
      schema: DeliveriesSchema,
      most: MAX_PAGES,
      callOf: (page) => invoke('list-deliveries', withClientId({ per_page: PER_PAGE, page })),
      hasNext,
    }),
  )
  return (
    <Card
      title="A day of deliveries"
      note="Each hour’s deliveries by their outcome so far."
      call={invoke('list-deliveries', withClientId({ per_page: PER_PAGE }))}
    >
      <ReadResult read={read}>
        {({ pages, isWhole }) => (
          <>
            {clock && (
              <Strip deliveries={pages.flatMap(({ data }) => data)} nowMs={Date.parse(clock.now)} />
            )}
            {!isWhole && (
              <p class="note">Only the newest {MAX_PAGES * PER_PAGE} deliveries are counted.</p>
            )}
          </>
        )}
      </ReadResult>
      <p class="line">
        {endpoints
          .filter(({ enabled }) => enabled)
          .map(({ endpoint_id: id, url }) => (
            <ResendAll key={id} id={id} url={url} />
          ))}
        <span class="muted">
          starts a new round for all that was abandoned or skipped, and sends what the endpoint
          never got
        </span>
      </p>
    </Card>
  )
}

const RedeliveredSchema = v.object({ count: v.number(), next: v.nullable(v.string()) })

/** A call looks at a hundred events. */
const MAX_CALLS = 500

function ResendAll({ id, url }: { readonly id: string; readonly url: string }) {
  const showNotice = useContext(NoticeContext)
  return (
    <WorkButton
      label="Resend all"
      name={`Resend all missed webhooks of ${url}`}
      work={async () => showNotice(await resendAll(id))}
    />
  )
}

async function resendAll(id: string) {
  let count = 0
  let cursor: string | null = null
  for (let calls = 0; calls < MAX_CALLS; calls++) {
    const body = { since: LONG_AGO, ...(cursor !== null && { cursor }) }
    const answer = await doCall(apiPost(`webhook_endpoints/${id}/redeliver`, body))
    const parsed = v.safeParse(RedeliveredSchema, answer.body)
    if (!answer.ok || !parsed.success)
      return { ok: false, text: `Resend all: ${answer.message || `HTTP ${answer.status}`}` }
    count += parsed.output.count
    cursor = parsed.output.next
    if (cursor === null)
      return { ok: true, text: `Resend all: ${countOf(count, 'webhook')} sent again` }
  }
  return {
    ok: false,
    text: `Resend all: ${countOf(count, 'webhook')} sent again, and more are left`,
  }
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
      values: summed(
        byHour.get(hour) ?? [],
        ({ status }) => status,
        () => 1,
      ),
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
