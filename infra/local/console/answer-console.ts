import { jsonReply, type LocalAnswer, type LocalRequest } from '../process/local-http-server.ts'
import type { LocalPages } from '../triggers/start-http-gateway.ts'
import type { About } from './console-call.ts'
import { pageFiles } from './page-files.ts'
import { relayCall } from './relay-call.ts'
import type { Story } from './story/story.ts'

export type ConsoleParts = { readonly story: Story; readonly about: About }

const ROOT = '/console'
/** The allowed values of `Sec-Fetch-Site`. Others mean that a page of another site or port caused the request. */
const OWN_SITES: readonly unknown[] = [undefined, 'none', 'same-origin']

const FORBIDDEN = jsonReply(403, { code: 'forbidden', message: 'only the console’s own page may call it' })

/**
 * Serves the console on the local API's port; no deployed stage has it. `isForeignRequest` has refused requests with
 * another host or origin. A page elsewhere that embeds the console sends no origin, so this also checks the fetch site.
 * Only the page itself may be linked.
 */
export const answerConsole = (ready: Promise<ConsoleParts>): LocalPages => {
  const files = pageFiles()
  return (request) => {
    if (request.path !== ROOT && !request.path.startsWith(`${ROOT}/`)) return undefined
    const isVisit = request.path === ROOT && request.headers['sec-fetch-mode'] === 'navigate'
    if (!isVisit && !OWN_SITES.includes(request.headers['sec-fetch-site'])) return FORBIDDEN
    return answer(ready, files, request)
  }
}

const answer = async (
  ready: Promise<ConsoleParts>,
  files: ReturnType<typeof pageFiles>,
  request: LocalRequest,
): Promise<LocalAnswer> => {
  const { story, about } = await ready
  switch (`${request.method} ${request.path}`) {
    case 'GET /console/about':
      return jsonReply(200, about, { 'cache-control': 'no-store' })
    case 'GET /console/story':
      return storyStream(story)
    case 'POST /console/call':
      return relayCall(about, request)
    default: {
      const page = request.method === 'GET' ? await files(request.path) : undefined
      return page ?? jsonReply(404, { message: `no ${request.method} ${request.path} here` })
    }
  }
}

/** Server-sent events, one a line. JSON contains no line breaks, so one line cannot forge another. */
const storyStream = (story: Story): LocalAnswer => ({
  headers: { 'content-type': 'text/event-stream', 'x-content-type-options': 'nosniff' },
  stream: (send) => {
    send('event: begin\ndata: {}\n\n')
    return story.follow((line) => send(`data: ${JSON.stringify(line)}\n\n`))
  },
})
