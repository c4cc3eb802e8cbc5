import * as v from 'valibot'
import { ActivityLineSchema, type ShownLine } from '../activity/activity-line.ts'
import { readAllAgain } from './gateway.ts'
import { jakartaClock, jakartaDay, utcTime, withJakartaTimes, ZONE } from './jakarta.ts'
import { readAbout, store } from './session.ts'

const KEPT_LINES = 300
/** A change gives several lines at once. The page waits for them, and reads again once. */
const READ_DELAY_MS = 120
/** A browser does not reconnect after an answer that is not an event stream. */
const RECONNECT_DELAY_MS = 2_000

const activityLines = store<readonly ShownLine[]>([])
const isLive = store(false)

/** The activity feed, newest first, with a heading for each day of Jakarta. */
export function ActivityPane() {
  const lines = activityLines.use()
  const live = isLive.use()
  const days = Map.groupBy(lines.toReversed(), ({ at }) => jakartaDay(at))
  return (
    <aside aria-label="Activity">
      <header>
        <h2>Activity</h2>
        <span class={live ? 'live' : 'live off'}>{live ? 'live' : 'not connected'}</span>
      </header>
      <p class="note">
        In a shell: <code>npm run watch</code>
      </p>
      <div class="activity" role="log" aria-label="Activity, newest first" tabIndex={0}>
        {lines.length === 0 && <p class="empty">Nothing has happened yet. Create a payment.</p>}
        {[...days].map(([day, dayLines]) => (
          <section key={day} aria-label={day}>
            <h3>
              {day} {ZONE}
            </h3>
            <ol>
              {dayLines.map((line, index) => (
                <Line key={dayLines.length - index} line={line} />
              ))}
            </ol>
          </section>
        ))}
      </div>
    </aside>
  )
}

const SHORT_ID = 8

function Line({ line: { at, subject, tone, id, text } }: { readonly line: ShownLine }) {
  return (
    <li class={tone}>
      <time dateTime={at} title={utcTime(at)}>
        {jakartaClock(at)}
      </time>
      <span class="subject">{subject}</span>
      {id !== undefined && subject !== 'settlement' && (
        <a href={`#payments/${id}`} aria-label={`Payment ${id}`}>
          {id.slice(0, SHORT_ID)}
        </a>
      )}
      <p>{withJakartaTimes(text)}</p>
    </li>
  )
}

/** Reconnects after a restart of the gateway. */
export function followActivity() {
  const source = new EventSource('/console/activity')
  let pendingLines: readonly ShownLine[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  const flush = () => {
    timer = undefined
    activityLines.set([...activityLines.get(), ...pendingLines].slice(-KEPT_LINES))
    pendingLines = []
    readAllAgain()
  }
  source.addEventListener('open', () => isLive.set(true))
  source.addEventListener('error', () => {
    isLive.set(false)
    readAllAgain()
    if (source.readyState === EventSource.CLOSED) setTimeout(followActivity, RECONNECT_DELAY_MS)
  })
  // After each connection the gateway, maybe another one, sends all kept lines again.
  source.addEventListener('begin', () => {
    activityLines.set([])
    pendingLines = []
    readAbout().then(readAllAgain, readAllAgain)
  })
  source.addEventListener('message', ({ data }) => {
    const line = v.safeParse(ActivityLineSchema, JSON.parse(String(data)))
    if (!line.success) return
    pendingLines = [...pendingLines, line.output]
    timer ??= setTimeout(flush, READ_DELAY_MS)
  })
}
