import type { ShownLine } from '../story/story-line.ts'
import { isLive, storyLines } from './story-feed.ts'

const SHORT_ID = 8

const Line = ({ line: { at, subject, tone, id, text } }: { readonly line: ShownLine }) => (
  <li class={tone}>
    <time dateTime={at} title={at}>
      {at.slice(11, 19)}
    </time>
    <span class="subject">{subject}</span>
    {id !== undefined && subject !== 'settlement' && (
      <a href={`#payments/${id}`} aria-label={`Payment ${id}`}>
        {id.slice(0, SHORT_ID)}
      </a>
    )}
    <p>{text}</p>
  </li>
)

/** The story, newest first, with a heading for each day of the local clock. */
export const StoryPane = () => {
  const lines = storyLines.use()
  const live = isLive.use()
  const days = Map.groupBy(lines.toReversed(), ({ at }) => at.slice(0, 10))
  return (
    <aside aria-label="Story">
      <header>
        <h2>Story</h2>
        <span class={live ? 'live' : 'live off'}>{live ? 'live' : 'not connected'}</span>
      </header>
      <p class="note">
        The same in a shell: <code>npm run watch</code>
      </p>
      <div class="story" role="log" aria-label="What happens, newest first" tabIndex={0}>
        {lines.length === 0 && <p class="empty">Nothing has happened yet. Create a payment.</p>}
        {[...days].map(([day, ofDay]) => (
          <section key={day} aria-label={day}>
            <h3>{day}</h3>
            <ol>
              {ofDay.map((line, at) => (
                <Line key={ofDay.length - at} line={line} />
              ))}
            </ol>
          </section>
        ))}
      </div>
    </aside>
  )
}
