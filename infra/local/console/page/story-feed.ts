import * as v from 'valibot'
import { somethingChanged } from './gateway.ts'
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

export const storyLines = store<readonly ShownLine[]>([])
export const isLive = store(false)

/** Listens to the gateway for as long as the page is open; the browser connects again by itself. */
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
  source.addEventListener('error', () => isLive.set(false))
  // All of it comes again after each connection.
  source.addEventListener('begin', () => {
    storyLines.set([])
    pending = []
  })
  source.addEventListener('message', ({ data }) => {
    const line = v.safeParse(Line, JSON.parse(String(data)))
    if (!line.success) return
    pending = [...pending, line.output]
    timer ??= setTimeout(flush, SETTLES_MS)
  })
}
