import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'

/** The directory is removed after the test that asks for it. */
export function tempDirectory() {
  const path = mkdtempSync(join(tmpdir(), 'gateway-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/**
 * Until the test ends, only these programs (shell scripts) and those that the gateway needs are on
 * the PATH.
 */
export function machineWith(programs: Readonly<Record<string, string>>) {
  const directory = tempDirectory()
  for (const name of ['sh', 'sleep']) symlinkSync(join('/bin', name), join(directory, name))
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  }
  vi.stubEnv('PATH', directory)
  vi.stubEnv('JAVA_HOME', join(directory, 'no-such-jdk'))
}
