import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type KeptCommand = {
  readonly program: string
  readonly args: readonly string[]
  /**
   * A shell command that runs before the program (`$program`) is killed. It stops a container that
   * would continue to run, or asks the program to end.
   */
  readonly alsoOnEnd?: string
}

/**
 * Shell code that runs the program and a watcher. The watcher waits for the end of our pipe: we
 * close it, or we are killed. Then the watcher ends the program. If the program ends by itself, the
 * watcher ends too.
 */
const WATCH = `
exec 3<&0
also_on_end=$1
shift
"$@" </dev/null >/dev/null 3<&- &
program=$!
echo "$program"
exec >/dev/null
( exec 2>/dev/null; read -r _ <&3; [ -z "$also_on_end" ] || eval "$also_on_end"; kill -9 "$program" ) &
watcher=$!
exec 3<&-
wait "$program"
kill "$watcher" 2>/dev/null
`

const ERROR_TAIL_CHARACTERS = 2_000
const END_TIMEOUT_MS = 6_000

/** Starts a program that ends with this process, even if this process is killed. */
export async function startKeptProcess({ program, args, alsoOnEnd = '' }: KeptCommand) {
  const shell = spawn('sh', ['-c', WATCH, 'keep', alsoOnEnd, program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // A separate process group, so that Ctrl-C in the terminal reaches only us. We end the program
    // when we stop.
    detached: true,
  })
  let tail = ''
  shell.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-ERROR_TAIL_CHARACTERS)
  })
  let hasEnded = false
  const exitOutput = once(shell, 'close').then(() => {
    hasEnded = true
    return tail
  })
  // A write to a shell that has ended may fail. `exitOutput` already reports that end.
  shell.stdin.on('error', () => undefined)

  const [line] = await Promise.race([
    once(createInterface(shell.stdout), 'line'),
    exitOutput.then((errors) => Promise.reject(new Error(`${program} did not start: ${errors}`))),
  ])
  return {
    /** The pid of the program, not of the shell that watches it. */
    pid: Number(line),
    /** The program's command line as the system shows it. */
    command: [program, ...args].join(' '),
    /** Resolves after the program has ended, with the last lines of its error output. */
    exitOutput,
    hasExited: () => hasEnded,
    /** Ends the program, and resolves after it has ended. */
    close: async () => {
      shell.stdin.end()
      const timer = setTimeout(() => killIfRunning(Number(line)), END_TIMEOUT_MS)
      await exitOutput
      clearTimeout(timer)
    },
  }
}

export type KeptProcess = Awaited<ReturnType<typeof startKeptProcess>>

/** Ends the program if its watcher was killed. */
function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The program has already ended.
  }
}
