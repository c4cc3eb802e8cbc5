import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'
import { tempDirectory } from './temp-directory.ts'

/** For the rest of the test a machine with these programs alone, each a shell script, and what the gateway itself needs. */
export const machineWith = (programs: Readonly<Record<string, string>>): void => {
  const directory = tempDirectory()
  for (const name of ['sh', 'sleep']) symlinkSync(join('/bin', name), join(directory, name))
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  }
  vi.stubEnv('PATH', directory)
  vi.stubEnv('JAVA_HOME', join(directory, 'no-such-jdk'))
}
