import * as v from 'valibot'
import { somethingChanged } from './gateway.ts'
import { readAbout } from './session.ts'
import { store } from './store.ts'

const Line = v.object({
  at: v.string(),
  subject: v.string(),
  tone: v.picklist(['good', 'bad', 'plain']),
  id: v.optional(v.string()),
  text: v.string(),
})
export type ShownLine = v.InferOutput<typeof Line>

const KEPT = 300
/** Several lines of one change come at once: the page reads again once for them. */
const SETTLES_MS = 120
/** After an answer that is no story the browser gives up. */
const TRIES_AGAIN_MS = 2_000

export const storyLines = store<readonly ShownLine[]>([])
export const isLive = store(false)

/** Listens to the gateway for as long as the page is open, also to the one that a restart puts in its place. */
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
  // All of it comes again after each connection. What answers may be another gateway.
  source.addEventListener('begin', () => {
    storyLines.set([])
    pending = []
    readAbout().then(somethingChanged, somethingChanged)
  })
  source.addEventListener('message', ({ data }) => {
    const line = v.safeParse(Line, JSON.parse(String(data)))
    if (!line.success) return
    pending = [...pending, line.output]
    timer ??= setTimeout(flush, SETTLES_MS)
  })
}
