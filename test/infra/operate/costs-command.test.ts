import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROJECT_ROOT } from '../../support/source-file.ts'

const costs = (...argv: readonly string[]) =>
  spawnSync(process.execPath, ['infra/operate/costs/main.ts', ...argv], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    timeout: 60_000,
  })

describe('npm run costs', () => {
  it('explains itself when asked, measures nothing and writes nothing', () => {
    const document = join(PROJECT_ROOT, 'docs/operations.md')
    const before = readFileSync(document, 'utf8')

    const { status, stdout } = costs('--help', '--write')

    expect(status).toBe(0)
    expect(stdout).toMatch(/^npm run costs/)
    expect(stdout).not.toContain('| ')
    expect(readFileSync(document, 'utf8')).toBe(before)
  })

  it('ends with 2 when called wrongly, and says why', () => {
    const { status, stderr } = costs('--wirte')

    expect(status).toBe(2)
    expect(stderr).toContain("Unknown option '--wirte'")
  })
})
