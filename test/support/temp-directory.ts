import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory for the test that asks for it, removed after that test. */
export const tempDirectory = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'gateway-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}
