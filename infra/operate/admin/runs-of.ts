import * as v from 'valibot'
import type { Payload } from './action-command.ts'
import { InvocationFailed } from './invoke-action.ts'

/** The most runs of one command. Each run reads for minutes. */
export const MAX_RUNS = 500

const Continuing = v.object({ body: v.object({ continuing: v.literal(true), cursor: v.string() }) })

/**
 * The answers of an action that reads in parts: each run begins at the cursor of the last one. Ends
 * when nothing is left, or with the answer of a run that was refused.
 */
export async function* runsOf(
  action: string,
  payload: Payload,
  ask: (payload: Payload) => Promise<unknown>,
  most = MAX_RUNS,
) {
  let from = {}
  for (let run = 0; run < most; run++) {
    const answer = await ask({ ...payload, ...from })
    yield answer
    const next = v.safeParse(Continuing, answer)
    if (!next.success) return
    from = { cursor: next.output.body.cursor }
  }
  throw new InvocationFailed(`${action} was not finished after ${most} runs`)
}
