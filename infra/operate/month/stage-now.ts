import { request } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import * as v from 'valibot'
import { type Timestamp, TimestampSchema, timestampOf } from '../../../shared/time.ts'
import { LOCAL_STAGE } from '../admin/action-command.ts'
import { InvocationFailed, localUrl, MARGIN_MS, replyTo } from '../admin/invoke-action.ts'

/** The stage's time: the local gateway has a clock of its own. */
export async function stageNow(stage: string, env: NodeJS.ProcessEnv): Promise<Timestamp> {
  if (stage !== LOCAL_STAGE) return timestampOf(Date.now())
  const url = localUrl(env)
  const options = { agent: false, signal: AbortSignal.timeout(MARGIN_MS) }
  try {
    const reply = await replyTo(request(`${url}/_local/clock`, options))
    return v.parse(Clock, JSON.parse(await readText(reply))).now
  } catch (cause) {
    throw new InvocationFailed(`no clock answers at ${url}; start the gateway: npm start`, {
      cause,
    })
  }
}

const Clock = v.object({ now: TimestampSchema })
