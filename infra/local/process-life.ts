import { readFileSync } from 'node:fs'

/** What ends a program from outside: signals, errors nobody caught, and the death of the npm that runs it. */
export type ProcessLife = {
  /** Aborts at the first signal or failure. */
  readonly signal: AbortSignal
  /** Resolves then, with the exit code. */
  readonly ended: Promise<number>
  /** Ends the program's life from inside, for what has failed. */
  readonly fail: (error: Error) => void
}

const PARENT_POLL_MS = 250
const KILLED_BY_USER = 130
/** One Ctrl-C may reach us twice: from the terminal, and handed on by npm. */
const SAME_SIGNAL_MS = 1_000

/**
 * The first SIGINT, SIGTERM or SIGHUP asks for a clean stop, another one a second later ends the process at once.
 * Messages go to the error output.
 */
export const watchProcess = (): ProcessLife => {
  const aborting = new AbortController()
  const { promise: ended, resolve } = Promise.withResolvers<number>()

  const end = (exitCode: number) => {
    resolve(exitCode)
    aborting.abort()
  }
  const fail = (error: Error) => {
    if (!aborting.signal.aborted) console.error(`\n${error.stack ?? error.message}`)
    end(1)
  }

  let askedAtMs: number | undefined
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      askedAtMs ??= performance.now()
      if (performance.now() - askedAtMs > SAME_SIGNAL_MS) process.exit(KILLED_BY_USER)
      end(0)
    })
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', (reason) => fail(reason instanceof Error ? reason : new Error(String(reason))))
  // A reader that goes away (`npm start | head`) is no reason to stop.
  process.stdout.on('error', () => undefined)
  process.stderr.on('error', () => undefined)
  whenNpmDies(() => end(0))
  return { signal: aborting.signal, ended, fail }
}

/** npm runs a script in a shell. Whichever of the two dies would leave us running, without anybody to stop us. */
const whenNpmDies = (run: () => void): void => {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const shell = process.ppid
  const npm = parentOf(shell)
  const timer = setInterval(() => {
    if (process.ppid === shell && parentOf(shell) === npm) return
    clearInterval(timer)
    run()
  }, PARENT_POLL_MS)
  timer.unref()
}

/** On Linux; undefined elsewhere, where only our own parent is watched. */
const parentOf = (pid: number): string | undefined => {
  try {
    // `pid (name) state parent …`, and the name may hold anything.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)?.trim().split(' ')[1]
  } catch {
    return undefined
  }
}
