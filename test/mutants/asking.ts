import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../support/source-file.ts'

export type Ask = {
  readonly checks: readonly string[]
  readonly replaced?: { readonly path: string; readonly text: string } | undefined
}

export type CheckResult = {
  readonly name: string
  readonly ms: number
  readonly failed?: string | undefined
  /** Why the test file could not be loaded: no test ran, so the result proves nothing. */
  readonly unloaded?: string | undefined
  /** While a check is recorded: the executed functions, as `path#function`. */
  readonly hits: readonly string[]
}

export type Said =
  | { readonly ready: true }
  | { readonly ended: CheckResult }
  | { readonly done: true }

export type Asker = {
  /** A check that does not end in time, or ends its process, counts as failed. */
  ask(ask: Ask, boundMsOf: (check: string) => number): Promise<readonly CheckResult[]>
  end(): void
}

const children = new Set<ChildProcess>()

export function endAll() {
  children.forEach(endChild)
}

function endChild(child: ChildProcess) {
  if (children.delete(child) && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
}

/** Starts the process with the first question, and again if a check has ended it. */
export function openAsker(...flags: readonly string[]) {
  let child: ChildProcess | undefined
  const end = () => {
    if (child) endChild(child)
    child = undefined
  }
  const ask: Asker['ask'] = ({ checks, replaced }, boundMsOf) =>
    new Promise((resolve) => {
      const isNew = child === undefined
      const asked = (child ??= fork(join(import.meta.dirname, 'ask-tests.ts'), flags, {
        cwd: PROJECT_ROOT,
        // A process group of its own, which can be ended as a whole.
        detached: true,
        env: { ...process.env, NODE_COMPILE_CACHE: join(PROJECT_ROOT, '.mutants/compiled') },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      }))
      children.add(asked)
      const results: CheckResult[] = []
      let timer: NodeJS.Timeout | undefined
      const finish = (failed?: string) => {
        clearTimeout(timer)
        asked.removeAllListeners()
        const name = checks[results.length] ?? checks.at(-1) ?? ''
        if (failed !== undefined) end()
        resolve(failed === undefined ? results : [...results, { name, ms: 0, failed, hits: [] }])
      }
      const wait = () => {
        clearTimeout(timer)
        timer = setTimeout(() => finish('it does not end'), boundMsOf(checks[results.length] ?? ''))
      }
      asked.on('message', (said: Said) => {
        if ('ready' in said) asked.send({ checks, replaced })
        else if ('done' in said) return finish()
        else results.push(said.ended)
        wait()
      })
      asked.on('exit', () => finish('its process ends'))
      wait()
      if (!isNew) asked.send({ checks, replaced })
    })
  return { ask, end }
}
