import * as v from 'valibot'
import { type ShownLine, StoryLineSchema } from '../story/story-line.ts'
import { somethingChanged } from './gateway.ts'
import { readAbout } from './session.ts'
import { store } from './store.ts'

const KEPT = 300
/** One change gives several lines at once. The page waits this long and reads again only once. */
const SETTLES_MS = 120
/** The browser does not reconnect after an answer that is no event stream, so the page does. */
const TRIES_AGAIN_MS = 2_000

export const storyLines = store<readonly ShownLine[]>([])
export const isLive = store(false)

/** Listens to the gateway while the page is open, also after a restart of the gateway. */
export const followStory = () => {
  const source = new EventSource('/console/story')
  let pending: readonly ShownLine[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  const flush = () => {
    timer = undefined
    storyLines.set([...storyLines.get(), ...pending].slice(-KEPT))
    pending = []
    somethingChanged()
  }
  source.addEventListener('open', () => isLive.set(true))
  source.addEventListener('error', () => {
    isLive.set(false)
    somethingChanged()
    if (source.readyState === EventSource.CLOSED) setTimeout(followStory, TRIES_AGAIN_MS)
  })
  // The whole story comes again after each connection. Another gateway may answer now.
  source.addEventListener('begin', () => {
    storyLines.set([])
    pending = []
    readAbout().then(somethingChanged, somethingChanged)
  })
  source.addEventListener('message', ({ data }) => {
    const line = v.safeParse(StoryLineSchema, JSON.parse(String(data)))
    if (!line.success) return
    pending = [...pending, line.output]
    timer ??= setTimeout(flush, SETTLES_MS)
  })
}
