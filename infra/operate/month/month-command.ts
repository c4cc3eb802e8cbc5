import { readOptions, UsageError } from '../../local/terminal/command-line.ts'
import type { Output } from '../../local/terminal/printable.ts'
import { LOCAL_STAGE, type Payload } from '../admin/action-command.ts'
import { invokeAction } from '../admin/invoke-action.ts'
import { actionNamed } from '../admin/listed-actions.ts'
import { startProgress } from '../admin/progress.ts'
import { runMonth } from './run-month.ts'
import { stageNow } from './stage-now.ts'

const OPTIONS = {
  stage: { type: 'string', default: LOCAL_STAGE },
  out: { type: 'string' },
} as const

/** `month 2026-11 --out DIR`. Answers whether everything was written and adds up. */
export async function monthCommand(
  [month = '', ...argv]: readonly string[],
  io: Output & { readonly env: NodeJS.ProcessEnv },
): Promise<boolean> {
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
