import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A program that cannot outlive this process, however this process ends. */
export type KeptProcess = {
  /** Of the program itself, not of the shell that watches over it. */
  readonly pid: number
  /** Its command line as the system shows it. */
  readonly command: string
  /** Resolves when the program is gone, with the last lines it wrote to its error output. */
  readonly exited: Promise<string>
  hasExited(): boolean
  /** Ends the program and returns when it is gone. */
  close(): Promise<void>
}

export type KeptCommand = {
  readonly program: string
  readonly args: readonly string[]
  /**
   * Shell command that comes before the program (`$program`) is killed: ends what would be left running (a container), or
   * asks it to end by itself.
   */
  readonly alsoOnEnd?: string
}

/**
 * Runs the program beside a watcher that waits for the end of our pipe. The pipe ends when we close it and also when
 * we are killed, so the program is ended in both cases. Nothing is left when the program ends by itself.
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

export const startKeptProcess = async ({ program, args, alsoOnEnd = '' }: KeptCommand): Promise<KeptProcess> => {
  const shell = spawn('sh', ['-c', WATCH, 'keep', alsoOnEnd, program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // A process group of its own: Ctrl-C in the terminal reaches us alone, and we end the program when we are done.
    detached: true,
  })
  let exited = false
  const ended = errorTail(shell).then((tail) => {
    exited = true
    return tail
  })
  // Writing to a shell that is gone is no news: `exited` tells.
  shell.stdin.on('error', () => undefined)

  const [line] = await Promise.race([
    once(createInterface(shell.stdout), 'line'),
    ended.then((tail) => Promise.reject(new Error(`${program} did not start: ${tail}`))),
  ])
  return {
    pid: Number(line),
    command: [program, ...args].join(' '),
    exited: ended,
    hasExited: () => exited,
    close: async () => {
      shell.stdin.end()
      const timer = setTimeout(() => killIfRunning(Number(line)), END_TIMEOUT_MS)
      await ended
      clearTimeout(timer)
    },
  }
}

/** For the case that somebody has ended the watcher. */
const killIfRunning = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has gone in the meantime.
  }
}

const errorTail = async (shell: ChildProcess): Promise<string> => {
  let tail = ''
  shell.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-ERROR_TAIL_CHARACTERS)
  })
  await once(shell, 'close')
  return tail
}
