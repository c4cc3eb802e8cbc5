import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readIfPresent } from './json-file.ts'

/**
 * A file that remembers a process: its pid, and below it its command line. Pids are used again by the system, so a
 * process is the remembered one only if its command line is still the same.
 */
export type ProcessRecord = { readonly pid: number; readonly command: string }

const END_TRIES = 200
const END_POLL_MS = 25

/** The command line of a running process, or undefined when there is none of this pid. */
export const commandOf = (pid: number): string | undefined => {
  try {
    // On Linux; elsewhere `ps` knows.
    const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return text === '' ? undefined : text.split('\0').join(' ').trim()
  } catch {
    return process.platform === 'linux' ? undefined : commandFromPs(pid)
  }
}

const commandFromPs = (pid: number): string | undefined => {
  try {
    const text = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' })
    return text.trim() === '' ? undefined : text.trim()
  } catch {
    return undefined
  }
}

export const writeProcessRecord = (path: string, { pid, command }: ProcessRecord): void =>
  writeFileSync(path, `${pid}\n${command}\n`)

/** Writes this process into the file if it names no other running one; answers the other one if it does. */
export const claimForThisProcess = (path: string): ProcessRecord | undefined => {
  const other = runningProcess(path)
  if (other) return other
  removeProcessRecord(path)
  // Of two that come here at once, the second finds the file made and fails.
  writeFileSync(path, `${process.pid}\n${commandOf(process.pid) ?? ''}\n`, { flag: 'wx' })
  return undefined
}

export const removeProcessRecord = (path: string): void => rmSync(path, { force: true })

/** The remembered process if it still runs; undefined when there is no file, or the process is gone. */
export const runningProcess = (path: string): ProcessRecord | undefined => {
  const [pidText = '', ...rest] = (readIfPresent(path) ?? '').split('\n')
  const command = rest.join('\n').trim()
  const pid = Number(pidText)
  if (!Number.isInteger(pid) || pid <= 1 || command === '') return undefined
  return commandOf(pid) === command ? { pid, command } : undefined
}

/** Asks the process to end, ends it when it does not, and returns when it is gone. Throws when it does not go. */
export const endProcess = async ({ pid, command }: ProcessRecord): Promise<void> => {
  for (let tried = 0; tried < END_TRIES; tried++) {
    if (commandOf(pid) !== command) return
    try {
      process.kill(pid, tried < END_TRIES / 2 ? 'SIGTERM' : 'SIGKILL')
    } catch {
      return
    }
    await sleep(END_POLL_MS)
  }
  throw new Error(`process ${pid} (${command}) does not end`)
}
