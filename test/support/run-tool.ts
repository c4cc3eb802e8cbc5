import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { PROJECT_ROOT } from './source-file.ts'

type Options = {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly deadlineMs?: number
}

/** Many times what a deployment or a model takes. */
export const DEADLINE_MS = 900_000

export async function runTool(
  program: string,
  args: readonly string[],
  { env, cwd, deadlineMs = DEADLINE_MS }: Options = {},
) {
  const child = spawn(program, args, {
    cwd: cwd ?? PROJECT_ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group, which ends as a whole: a remaining child would keep the output open for
    // ever.
    detached: true,
  })
  let isLate = false
  const deadline = setTimeout(() => {
    isLate = true
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, deadlineMs)
  // A missing program fails with the exit code of a shell.
  const ended = once(child, 'close').catch(() => [127])
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ])
  clearTimeout(deadline)
  return {
    code: Number(code ?? 1),
    output,
    errors: isLate ? `${errors}\nended after ${deadlineMs / 1_000} s` : errors,
  }
}

/** `more` is called at each output. */
export function outputOf(streams: readonly Readable[], more?: () => unknown) {
  let output = ''
  for (const stream of streams) {
    stream.setEncoding('utf8').on('data', (printed: string) => {
      output += printed
      more?.()
    })
  }
  return () => output
}

/** The environment stays between runs, so only the first run needs PyPI. */
export async function makePythonEnvironment(directory: string, packages: readonly string[]) {
  const python = join(directory, 'bin/python')
  const made = existsSync(python)
    ? { code: 0, errors: '' }
    : await runTool('python3', ['-m', 'venv', directory])
  const pip = ['-m', 'pip', '-q', '--disable-pip-version-check', 'install', ...packages]
  const { code, errors } = made.code === 0 ? await runTool(python, pip) : made
  if (code !== 0) throw new Error(`${packages.join(', ')}: not installed: ${errors}`)
}
