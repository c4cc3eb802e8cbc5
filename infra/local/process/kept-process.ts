import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type KeptCommand = {
  readonly program: string
  readonly args: readonly string[]
  /**
   * A shell command that runs before the program (`$program`) is killed: it stops a container, or
   * asks the program to end.
   */
  readonly alsoOnEnd?: string
}

/**
 * The watcher waits for the end of our pipe, by our close or our death, and then ends the program.
 * It ends too if the program ends by itself. Java reads paths by the locale.
 */
const WATCH = `
exec 3<&0
also_on_end=$1
shift
LC_ALL=C.UTF-8 "$@" </dev/null >/dev/null 3<&- &
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

/** The program ends with this process, even if this process is killed. */
export async function startKeptProcess({ program, args, alsoOnEnd = '' }: KeptCommand) {
  const shell = spawn('sh', ['-c', WATCH, 'keep', alsoOnEnd, program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Ctrl-C in the terminal reaches only us, who end the program when we stop.
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
  // `exitOutput` already reports the end of the shell.
  shell.stdin.on('error', () => undefined)

  const [line] = await Promise.race([
    once(createInterface(shell.stdout), 'line'),
    exitOutput.then((errors) => Promise.reject(new Error(`${program} did not start: ${errors}`))),
  ])
  return {
    pid: Number(line),
    command: [program, ...args].join(' '),
    /** Resolves after the end, with the last lines of error output. */
    exitOutput,
    hasExited: () => hasEnded,
    close: async () => {
      shell.stdin.end()
      const timer = setTimeout(() => killIfRunning(Number(line)), END_TIMEOUT_MS)
      await exitOutput
      clearTimeout(timer)
    },
  }
}

export type KeptProcess = Awaited<ReturnType<typeof startKeptProcess>>

function killIfRunning(pid: number) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The program has already ended.
  }
}
