import * as v from 'valibot'
import { TimestampSchema, timestampOf } from '../../../../shared/time.ts'
import { readOptions, UsageError } from '../../../local/terminal/command-line.ts'
import type { CommandIo } from '../../../local/terminal/printable.ts'
import { LOCAL_STAGE, type Payload } from '../action-command.ts'
import { InvocationFailed, invokeAction, localUrl } from '../invoke-action.ts'
import { actionNamed } from '../listed-actions.ts'
import { startProgress } from '../progress.ts'
import { runMonth } from './run-month.ts'

const OPTIONS = {
  stage: { type: 'string', default: LOCAL_STAGE },
  out: { type: 'string' },
} as const

/** `month 2026-11 --out DIR`. Answers whether everything was written and adds up. */
export async function monthCommand([month = '', ...argv]: readonly string[], io: CommandIo) {
  const { stage, out: folder } = readOptions(argv, OPTIONS)
  if (folder === undefined) throw new UsageError('give a folder for the files: --out DIR')
  const ask = (name: string, payload: Payload) =>
    invokeAction(actionNamed(name), { stage, json: false, payload }, io.env)
  const now = await stageNow(stage, io.env)
  const progress = startProgress(io, 'month is running')
  try {
    return await runMonth({ month, folder, now }, ask, { ...io, say: progress.say })
  } finally {
    progress.end()
  }
}

/** The local gateway has a clock of its own. */
async function stageNow(stage: string, env: NodeJS.ProcessEnv) {
  if (stage !== LOCAL_STAGE) return timestampOf(Date.now())
  const url = localUrl(env)
  try {
    const reply = await fetch(`${url}/_local/clock`, { signal: AbortSignal.timeout(CLOCK_MS) })
    return v.parse(Clock, await reply.json()).now
  } catch (cause) {
    throw new InvocationFailed(`no clock answers at ${url}; start the gateway: npm start`, {
      cause,
    })
  }
}

const CLOCK_MS = 10_000
const Clock = v.object({ now: TimestampSchema })
