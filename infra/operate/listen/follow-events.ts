import { eventsPage, type Feed, type FeedEvent, UnreachableError } from './events-page.ts'

const POLL_MS = 2_000
/** The polls of a day. The next run continues. */
const MAX_POLLS = 43_200
/** Waits of 1, 2, 4 … 30 seconds: four minutes in all. */
const MAX_TRIES = 12
const LONGEST_WAIT_MS = 30_000

/** The feed may show an event again for some minutes, so a run remembers the last posted events. */
const MAX_REMEMBERED = 10_000

/** Where a run continues: the position in the feed, and the latest events that were posted. */
type Progress = { readonly next: string | undefined; readonly posted: readonly string[] }

type FollowInput = {
  readonly feed: Feed
  /** The start of a run without a position. */
  readonly since: string
  readonly post: (event: FeedEvent) => Promise<void>
  readonly progress: Progress
  readonly keep: (progress: Progress) => void
  readonly warn: (text: string) => void
  readonly sleep: (ms: number) => Promise<void>
  readonly signal: AbortSignal
}

/**
 * Posts each event of the feed, oldest first, until the signal. Throws `UnreachableError` if a
 * server stays unreachable for minutes. Keeps the progress after each page and at the end. After a
 * killed run, up to a page is posted again.
 */
export async function followEvents(input: FollowInput): Promise<void> {
  const { feed, since, post, progress, keep, sleep, signal } = input
  const posted = new Set(progress.posted)
  let { next } = progress
  const save = () => keep({ next, posted: [...posted].slice(-MAX_REMEMBERED) })
  try {
    for (let poll = 0; poll < MAX_POLLS && !signal.aborted; poll++) {
      const position = next === undefined ? { since } : { after: next }
      const page = await retryUntilReached(input, () => eventsPage(feed, position, signal))
      for (const event of page.events.filter(({ event_id: id }) => !posted.has(id))) {
        if (signal.aborted) return
        await retryUntilReached(input, () => post(event))
        posted.add(event.event_id)
      }
      next = page.next
      save()
      if (!page.hasMore) await sleep(POLL_MS)
    }
  } catch (error) {
    // The signal also aborts the current call. That error is no failure.
    if (!signal.aborted) throw error
  } finally {
    save()
  }
}

async function retryUntilReached<T>(
  { warn, sleep, signal }: FollowInput,
  call: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof UnreachableError) || signal.aborted || tries === MAX_TRIES) throw error
      const waitMs = Math.min(1_000 * 2 ** (tries - 1), LONGEST_WAIT_MS)
      warn(`${error.message}. Try ${tries + 1} of ${MAX_TRIES} in ${waitMs / 1_000} s.`)
      await sleep(waitMs)
    }
  }
}
