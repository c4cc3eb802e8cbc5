const PARENT_POLL_MS = 250
const KILLED_BY_USER = 130
/** One Ctrl-C may arrive twice: from the terminal, and forwarded by npm. */
const SAME_SIGNAL_MS = 1_000

/**
 * Watches for signals, uncaught errors, and the end of the npm that runs the program. The first
 * SIGINT, SIGTERM or SIGHUP starts a clean stop; another signal, at least a second later, ends the
 * process at once. Messages go to the error output.
 */
export function watchProcess() {
  const aborting = new AbortController()
  const { promise: exitCode, resolve } = Promise.withResolvers<number>()

  const end = (code: number) => {
    resolve(code)
    aborting.abort()
  }
  const fail = (error: Error) => {
    if (!aborting.signal.aborted) console.error(`\n${error.stack ?? error.message}`)
    end(1)
  }

  let firstSignalMs: number | undefined
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      firstSignalMs ??= performance.now()
      if (performance.now() - firstSignalMs > SAME_SIGNAL_MS) process.exit(KILLED_BY_USER)
      end(0)
    })
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', (reason) =>
    fail(reason instanceof Error ? reason : new Error(String(reason))),
  )
  // A reader that closes the pipe (`npm start | head`) does not stop the gateway.
  process.stdout.on('error', () => undefined)
  process.stderr.on('error', () => undefined)
  whenNpmEnds(() => end(0))
  // At the first signal or failure, `signal` aborts, and `exitCode` resolves.
  return { signal: aborting.signal, exitCode, fail }
}

/**
 * npm forwards signals, but sends none if it is killed. Only our own parent is watched: the shell
 * that started npm may end earlier (`nohup npm start &` in a script).
 */
function whenNpmEnds(run: () => void) {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const npm = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === npm) return
    clearInterval(timer)
    run()
  }, PARENT_POLL_MS)
  timer.unref()
}
