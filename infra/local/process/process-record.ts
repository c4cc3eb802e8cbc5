import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readIfPresent } from './json-file.ts'

/**
 * The system reuses pids, so a running process is the recorded one only with the same command line.
 */
export type ProcessRecord = { readonly pid: number; readonly command: string }

const END_TRIES = 200
const END_POLL_MS = 25

/** Undefined if no process has this pid. */
export function commandOf(pid: number) {
  try {
    // Only Linux has this file; other systems use `ps`.
    const text =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        : execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], {
            encoding: 'utf8',
            stdio: 'pipe',
          })
    return text.trim() || undefined
  } catch {
    return undefined
  }
}

export function writeProcessRecord(path: string, { pid, command }: ProcessRecord) {
  writeFileSync(path, `${pid}\n${command}\n`, { mode: 0o600 })
}

/** Returns another running process that the file names, instead of recording this one. */
export function claimForThisProcess(path: string): ProcessRecord | undefined {
  const otherProcess = runningProcess(path)
  if (otherProcess) return otherProcess
  removeProcessRecord(path)
  // In a race the second process finds the new file and fails.
  writeFileSync(path, `${process.pid}\n${commandOf(process.pid) ?? ''}\n`, {
    flag: 'wx',
    mode: 0o600,
  })
  return undefined
}

/** Undefined if there is no file or the process has ended. */
export function runningProcess(path: string): ProcessRecord | undefined {
  const [pidText = '', ...commandLines] = (readIfPresent(path) ?? '').split('\n')
  const command = commandLines.join('\n').trim()
  const pid = Number(pidText)
  if (!Number.isInteger(pid) || pid <= 1 || command === '') return undefined
  return commandOf(pid) === command ? { pid, command } : undefined
}

export function removeProcessRecord(path: string) {
  rmSync(path, { force: true })
}

/** Sends SIGTERM, later SIGKILL. Throws if the process does not end. */
export async function endProcess({ pid, command }: ProcessRecord) {
  for (let attempt = 0; attempt < END_TRIES; attempt++) {
    if (commandOf(pid) !== command) return
    try {
      process.kill(pid, attempt < END_TRIES / 2 ? 'SIGTERM' : 'SIGKILL')
    } catch {
      return
    }
    await sleep(END_POLL_MS)
  }
  throw new Error(`process ${pid} (${command}) does not end; kill it, then start again`)
}
