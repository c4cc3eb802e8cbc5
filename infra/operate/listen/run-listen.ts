import { createHash, createHmac } from 'node:crypto'
import { join } from 'node:path'
import * as v from 'valibot'
import { deliveryIdFor, derivedUuid, EndpointIdSchema } from '../../../shared/ids.ts'
import { AnyTimeSchema } from '../../../shared/time.ts'
import { webhookHeaders } from '../../../shared/webhook/send/webhook-headers.ts'
import { exitCodeOf, GatewayRefusal } from '../../local/commands/call-gateway.ts'
import { readJsonFile, writeJsonFile } from '../../local/process/json-file.ts'
import {
  addressAt,
  readOptions,
  runCommand,
  UsageError,
} from '../../local/terminal/command-line.ts'
import { printableLine, printableLines } from '../../local/terminal/printable.ts'
import { PROJECT_ROOT } from '../../stack/project-root.ts'
import { stackNameOf } from '../../stack/stage.ts'
import { LOCAL_STAGE } from '../admin/action-command.ts'
import { awsClients, describeStack, outputOf } from '../check/aws-clients.ts'
import { connectionError, errorName, remedyFor } from '../check/finding.ts'
import { requireRegion } from '../check/region-of.ts'
import { stageNamed } from '../check/stage-named.ts'
import { eventsPage, type Feed, type FeedEvent, UnreachableError } from './events-page.ts'

const USAGE = `npm run listen -- --stage NAME --forward URL [--since TIME]

Reads the events of a merchant in any stage, and posts each to a server on this machine as a webhook: the same bytes,
with a new signature. It prints the signing secret, which depends only on the key.
  --stage NAME    local (npm start), prod, dev, or one of your own
  --forward URL   where your server listens: http://127.0.0.1:4000/hooks
  --since TIME    begins with the events since then (2026-11-23T00:00:00Z, 90 days ago at most)
  --help, -h      this text
Without --since it continues where the last run for this key and URL ended. The first run begins with new events.
If your server answers an error, the event is not posted again; --since repeats it.

Environment:
  GATEWAY_API_KEY          the merchant's key; without it the key is read from the standard input. A read_only key is enough
  PORT                     of the local gateway (default 3000)
  AWS_REGION, AWS_PROFILE  the region of a stage without a domain, and your credentials
Exit code: 0 stopped by Ctrl-C or after a day, 1 refused or not reached, 2 wrong arguments.`

const OPTIONS = {
  stage: { type: 'string' },
  forward: { type: 'string' },
  since: { type: 'string' },
} as const

const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '[::1]']

/** `npm ci` empties this folder. The next run then begins with new events. */
const PROGRESS_FOLDER = join(PROJECT_ROOT, 'node_modules/.cache/listen')

/** The position in the feed, and the latest events that were posted or passed over. */
const ProgressSchema = v.object({
  next: v.optional(v.string()),
  /** By default the start of the run, by the gateway's clock. */
  since: v.optional(v.string()),
  posted: v.array(v.string()),
})
type Progress = v.InferOutput<typeof ProgressSchema>

export type ListenIo = {
  readonly env: NodeJS.ProcessEnv
  readonly readInput: () => Promise<string>
  readonly sleep: (ms: number) => Promise<void>
  readonly signal: AbortSignal
  readonly directory?: string
}

/** The key is no argument, because all users of a machine see arguments. */
export function runListen(argv: readonly string[], io: ListenIo) {
  return runCommand(USAGE, argv, async () => {
    const { stage, forward, since } = readOptions(argv, OPTIONS)
    if (stage === undefined) throw new UsageError('name the stage with --stage NAME')
    if (since !== undefined && !v.is(AnyTimeSchema, since))
      throw new UsageError('--since takes a time: 2026-11-23T00:00:00Z')
    const target = localUrl(forward)
    const apiKey = await readKey(io)
    return exitCodeOf(async () => {
      const feed = { stage, url: await apiUrl(stage, io.env), apiKey }
      const signingSecret = listeningSecret(apiKey)
      const file = join(
        io.directory ?? PROGRESS_FOLDER,
        `${progressName(feed.url, apiKey, target)}.json`,
      )
      const progress = since === undefined ? readJsonFile(file, ProgressSchema) : undefined
      console.log(
        printableLines(`Events of ${stage} (${feed.url}) go to ${target}, ${progress ? 'after the last run’s' : `since ${since ?? 'now'}`}.
Signing secret: ${signingSecret}`),
      )
      await followEvents({
        feed,
        progress: progress ?? { since, posted: [] },
        keep: (next) => writeJsonFile(file, next),
        post: async (event) => {
          const answer = await postEvent({ url: target, signingSecret }, event)
          console.log([event.event, event.data.id, answer].map(printableLine).join('  '))
        },
        warn: (text) => console.error(printableLines(text)),
        sleep: io.sleep,
        signal: io.signal,
      })
    })
  })
}

/** Events carry customers' data: they stay on this machine. */
function localUrl(text: string | undefined) {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && LOOPBACK.includes(url.hostname)) return url.href
  throw new UsageError(
    '--forward takes the URL of a server on this machine: http://127.0.0.1:4000/hooks',
  )
}

async function readKey({ env, readInput }: Pick<ListenIo, 'env' | 'readInput'>) {
  const key = (env['GATEWAY_API_KEY'] || (await readInput())).trim()
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new UsageError(
    'set GATEWAY_API_KEY to the merchant’s key, or give the key on the standard input',
  )
}

/**
 * The address of a stage's API: its file names the domain. Without a domain only the stack knows
 * it, and reading the stack needs AWS credentials.
 */
async function apiUrl(name: string | undefined, env: NodeJS.ProcessEnv) {
  if (name === LOCAL_STAGE) return addressAt(env['PORT'])
  const stage = stageNamed(name)
  if (stage.domain) return `https://${stage.domain.name}`
  const { cloudFormation } = awsClients(await requireRegion(env))
  const stack = await describeStack(cloudFormation, stackNameOf(stage)).catch((error: unknown) => {
    throw new GatewayRefusal(
      `the address of ${name} is not known: ${errorName(error)}; ${remedyFor(error)}`,
    )
  })
  const url = stack && outputOf(stack, 'ApiUrl')
  if (url === undefined)
    throw new GatewayRefusal(`${name} is not deployed here; set AWS_REGION and AWS_PROFILE`)
  return url
}

const POLL_MS = 2_000
/** The polls of a day. The next run continues. */
const MAX_POLLS = 43_200
/** Waits of 1, 2, 4 … 30 seconds: four minutes in all. */
const MAX_TRIES = 12
const LONGEST_WAIT_MS = 30_000

/** The feed may show an event again for some minutes. */
const MAX_REMEMBERED = 10_000

type FollowInput = {
  readonly feed: Feed
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
async function followEvents(input: FollowInput) {
  const { feed, post, progress, keep, sleep, signal } = input
  const posted = new Set(progress.posted)
  let { next, since } = progress
  const startMs = Date.now()
  let newSince = since === undefined && next === undefined ? undefined : ''
  const save = () => keep({ next, since, posted: [...posted].slice(-MAX_REMEMBERED) })
  try {
    for (let poll = 0; poll < MAX_POLLS && !signal.aborted; poll++) {
      const first = { since: since ?? new Date(startMs).toISOString() }
      const position = next === undefined ? first : { after: next }
      const page = await retryUntilReached(input, () => eventsPage(feed, position, signal))
      newSince ??= new Date(startMs + page.aheadMs).toISOString()
      since ??= newSince
      for (const event of page.events) {
        if (signal.aborted) return
        if (posted.has(event.event_id)) continue
        if (event.timestamp >= newSince) await retryUntilReached(input, () => post(event))
        posted.add(event.event_id)
      }
      next = page.next
      save()
      if (!page.hasMore) await sleep(POLL_MS)
    }
  } catch (error) {
    // The signal also aborts the current call, which is no failure.
    if (!signal.aborted) throw error
  } finally {
    save()
  }
}

async function retryUntilReached<T>({ warn, sleep, signal }: FollowInput, call: () => Promise<T>) {
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

const TIMEOUT_MS = 10_000

type Target = { readonly url: string; readonly signingSecret: string }

/**
 * Posts the event once, signed as a webhook. Answers the result for a person. Throws
 * `UnreachableError` if no server listens. The end of the command does not abort the post, because
 * the next run would post the event again.
 */
export async function postEvent({ url, signingSecret }: Target, event: FeedEvent) {
  const { event: eventName, event_id: eventId, body } = event
  const deliveryId = deliveryIdFor(eventId, v.parse(EndpointIdSchema, derivedUuid('listen', url)))
  const sentAtMs = Date.now()
  const elapsed = () => `in ${Date.now() - sentAtMs} ms`
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: webhookHeaders(
        { eventName, eventId, deliveryId },
        { body, signingSecret, sentAtMs },
      ),
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await answer.body?.cancel()
    return `${answer.status} ${elapsed()}`
  } catch (error) {
    const reason = connectionError(error)
    if (reason === 'ECONNREFUSED')
      throw new UnreachableError(`nothing listens at ${url}: start your server`)
    return `${reason} ${elapsed()}`
  }
}

/**
 * The signing secret of one API key: the same in every run, and it does not reveal the key. Only
 * the delivery worker can read the endpoint's own secret.
 */
function listeningSecret(apiKey: string) {
  return `whsec_${createHmac('sha256', apiKey).update('signing secret of npm run listen').digest('base64')}`
}

/** The name of a stored position is a hash, so that it does not reveal the key. */
function progressName(...parts: readonly string[]) {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32)
}
