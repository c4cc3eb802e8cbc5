import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import * as v from 'valibot'
import {
  jsonReply,
  type LocalAnswer,
  type LocalReply,
  type LocalRequest,
  parsedJson,
} from '../process/local-http-server.ts'
import type { LocalPages } from '../triggers/start-http-gateway.ts'
import type { ActivityFeed } from './activity/activity-feed.ts'
import { type About, ConsoleCallSchema, toWire } from './console-call.ts'

export type ConsoleParts = { readonly activity: ActivityFeed; readonly about: About }

const ROOT = '/console'
/** Any other `Sec-Fetch-Site` names a page of another site or port. */
const OWN_SITES: readonly unknown[] = [undefined, 'none', 'same-origin']

const FORBIDDEN = jsonReply(403, {
  code: 'forbidden',
  message: 'only the console’s page may call it: open /console',
})

/**
 * Serves the console on the local API's port; no deployed stage has it. `isForeignRequest` has
 * refused other hosts and origins. A page elsewhere that embeds the console sends no origin, so the
 * console checks the fetch site. Only the page itself may be linked.
 */
export function answerConsole(ready: Promise<ConsoleParts>): LocalPages {
  return (request) => {
    if (request.path !== ROOT && !request.path.startsWith(`${ROOT}/`)) return undefined
    const isVisit = request.path === ROOT && request.headers['sec-fetch-mode'] === 'navigate'
    if (!isVisit && !OWN_SITES.includes(request.headers['sec-fetch-site'])) return FORBIDDEN
    return answer(ready, request)
  }
}

export const PRIVATE_PAGE = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** The page loads only from this server, runs no inline code, and cannot be framed. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ...PRIVATE_PAGE,
}

const PAGE = join(import.meta.dirname, 'page')

const FILES: ReadonlyMap<string, { readonly type: string; readonly text: () => Promise<string> }> =
  new Map([
    ['/console', { type: 'text/html', text: readerOf('page.html') }],
    ['/console/page.css', { type: 'text/css', text: readerOf('page.css') }],
    ['/console/icon.svg', { type: 'image/svg+xml', text: readerOf('icon.svg') }],
    ['/console/page.js', { type: 'text/javascript', text: script }],
  ])

async function answer(ready: Promise<ConsoleParts>, request: LocalRequest): Promise<LocalAnswer> {
  const { activity, about } = await ready
  switch (`${request.method} ${request.path}`) {
    case 'GET /console/about':
      return jsonReply(200, about, { 'cache-control': 'no-store' })
    case 'GET /console/activity':
      return activityStream(activity)
    case 'POST /console/call':
      return relayCall(about, request)
    default: {
      const file = request.method === 'GET' ? FILES.get(request.path) : undefined
      if (!file) return jsonReply(404, { message: `no ${request.method} ${request.path} here` })
      return {
        status: 200,
        headers: { ...HEADERS, 'content-type': `${file.type}; charset=utf-8` },
        body: await file.text(),
      }
    }
  }
}

/** JSON contains no line breaks, so no event on its line can forge another event. */
function activityStream(activity: ActivityFeed): LocalAnswer {
  return {
    headers: { 'content-type': 'text/event-stream', 'x-content-type-options': 'nosniff' },
    stream: (send) => {
      send('event: begin\ndata: {}\n\n')
      return activity.follow((line) => send(`data: ${JSON.stringify(line)}\n\n`))
    },
  }
}

const TIMEOUT_MS = 30_000

/** The page can reach only its own origin. Answers `{status, body}` unchanged. */
async function relayCall(about: About, request: LocalRequest): Promise<LocalReply> {
  // A form of another page cannot send this type, and the CORS preflight refuses that page's
  // scripts.
  if (request.headers['content-type'] !== 'application/json')
    return jsonReply(415, { message: 'send the content type application/json' })
  const call = v.safeParse(ConsoleCallSchema, parsedJson(request.body))
  if (!call.success) return jsonReply(400, { message: v.flatten(call.issues) })
  const { url, ...init } = toWire(about, call.output)
  try {
    const reply = await fetch(url, {
      ...init,
      body: init.body ?? null,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await reply.text()
    return jsonReply(200, { status: reply.status, body: parsedJson(text) ?? text })
  } catch {
    return jsonReply(200, {
      status: 0,
      body: { message: 'no answer within 30 seconds; is the gateway running?' },
    })
  }
}

function readerOf(name: string) {
  return () => readFile(join(PAGE, name), 'utf8')
}

/** Built for each request, so that the start does not wait. */
async function script() {
  const { outputFiles } = await build({
    entryPoints: [join(PAGE, 'app.tsx')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    write: false,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}
