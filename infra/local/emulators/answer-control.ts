import * as v from 'valibot'
import { DAY_MS, SECOND_MS, timestampOf } from '../../../shared/time.ts'
import type { LocalLog } from '../functions/local-log.ts'
import type { LocalClock } from '../process/local-clock.ts'
import { jsonReply, type LocalReply, type LocalRequest } from '../process/local-http-server.ts'
import type { LocalAlert } from './alert-inbox.ts'

const MAX_JUMP_SECONDS = (3_660 * DAY_MS) / SECOND_MS

const Jump = v.strictObject({
  advance_seconds: v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(MAX_JUMP_SECONDS)),
})

/**
 * What only the local gateway has: its clock, its alerts and its log. Undefined when the request is for none of them.
 */
export const answerControl = (
  parts: { readonly clock: LocalClock; readonly alerts: () => readonly LocalAlert[]; readonly log: LocalLog },
  request: LocalRequest,
): LocalReply | undefined => {
  switch (`${request.method} ${request.path}`) {
    case 'GET /_local/clock':
      return now(parts.clock)
    case 'POST /_local/clock':
      return jump(parts.clock, request.body)
    case 'GET /_local/alerts':
      return jsonReply(200, parts.alerts())
    case 'GET /_local/log':
      return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, body: parts.log.lines().join('\n') }
    default:
      return undefined
  }
}

const now = (clock: LocalClock) => jsonReply(200, { now: timestampOf(clock.nowMs()) })

/** The clock keeps its new offset before anything sees the new time, so a jump that was answered survives a crash. */
const jump = (clock: LocalClock, body: Buffer): LocalReply => {
  const wanted = v.safeParse(Jump, parseJson(body))
  if (!wanted.success) {
    return jsonReply(400, { message: `advance_seconds must be a number from 0 to ${MAX_JUMP_SECONDS}` })
  }
  clock.advance(wanted.output.advance_seconds)
  return now(clock)
}

const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
