import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkInstalled } from '../../infra/deploy/check-installed.ts'
import { PROJECT_ROOT } from '../../infra/deploy/run-deploy.ts'
import { tempDirectory } from '../support/temp-directory.ts'

describe('checkInstalled', () => {
  it('misses packages that are not what the lock file says', () => {
    const root = tempDirectory()
    expect(checkInstalled(root)).toMatchObject({ state: 'wrong', detail: 'not installed' })

    mkdirSync(join(root, 'node_modules'))
    cpSync(join(PROJECT_ROOT, 'package-lock.json'), join(root, 'package-lock.json'))
    const installed = readFileSync(join(PROJECT_ROOT, 'node_modules/.package-lock.json'), 'utf8')
    writeFileSync(
      join(root, 'node_modules/.package-lock.json'),
      installed.replace(/("node_modules\/valibot": \{\s+"version": ")[^"]+/, '$10.0.1'),
    )
    expect(checkInstalled(root)).toMatchObject({
      what: 'packages',
      detail: '1 differ from the lock file, node_modules/valibot among them',
      todo: 'npm ci',
    })
  })
})
