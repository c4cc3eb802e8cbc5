import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { PROJECT_ROOT } from '../support/source-file.ts'

export type ToolRun = { readonly code: number; readonly output: string; readonly errors: string }

type Options = {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
}

/** A quarter of an hour: a deployment takes two minutes, and nothing may wait for ever. */
const DEADLINE_MS = 900_000

const NOT_FOUND = 127

/** Runs a program to its end, with nothing to answer its questions. */
export const runTool = async (program: string, args: readonly string[], { env, cwd }: Options): Promise<ToolRun> => {
  const child = spawn(program, args, {
    cwd: cwd ?? PROJECT_ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.timeout(DEADLINE_MS),
  })
  // A program that is not there fails as one that ends badly.
  const ended = once(child, 'close').catch(() => [NOT_FOUND])
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code: Number(code ?? 1), output, errors }
}
