import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkSettings, originCertificateProblems } from '../../../infra/operate/check/check-settings.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { selfSignedCertificate } from '../../support/https-servers.ts'
import { READY_PRODUCTION } from '../../support/stage-options.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

const AUTHORITY = readFileSync(READY_PRODUCTION.frontSettings.originCertificate?.authority ?? '', 'utf8')

const problems = (stage: DeployedStage) => checkSettings(stage).map(({ detail }) => detail)

describe('checkSettings', () => {
  it('misses a return URL and recipients of alarms in a stage that keeps its data, and only there', () => {
    const bare = deployedStage('prod')

    expect(checkSettings({ ...READY_PRODUCTION, settings: bare.settings })).toMatchObject([
      { what: 'stage settings', state: 'wrong', detail: 'the return URL is still https://example.com/' },
    ])
    expect(checkSettings({ ...READY_PRODUCTION, alarmRecipients: [] })).toMatchObject([
      { what: 'stage settings', state: 'wrong', detail: 'nobody is told of an alarm' },
    ])
    expect(checkSettings({ ...bare, deletionProtection: false })).toMatchObject([{ state: 'ok' }])
  })

  it('misses the domain of production, and what the origin knows its front by, as it misses the return URL', () => {
    expect(problems(deployedStage('prod'))).toStrictEqual([
      'the return URL is still https://example.com/',
      'nobody is told of an alarm',
      'the domain is still pay.example.com',
      'the id of the front’s certificate is still the placeholder',
      'infra/stack/edge/origin-authority.pem is still the placeholder',
    ])
    expect(checkSettings(deployedStage('prod')).every(({ state }) => state === 'wrong')).toBe(true)
    expect(problems(READY_PRODUCTION)).toStrictEqual(['prod keeps its data; 1 recipients'])
    const frontSettings = { ...READY_PRODUCTION.frontSettings, originCertificate: undefined }
    expect(problems({ ...READY_PRODUCTION, frontSettings })).toStrictEqual([
      'the origin cannot tell the front from others before a function runs',
    ])
  })

  it.each([
    ['is not there', undefined, /cannot be read: ENOENT/],
    ['is empty', '', /has no certificate/],
    ['is none', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', /cannot be read: /],
    ['holds its key as well', `${AUTHORITY}-----BEGIN PRIVATE KEY-----`, /holds a private key/],
  ])('misses an authority of the front that %s', (_, text, problem) => {
    const authority = join(tempDirectory(), 'authority.pem')
    if (text !== undefined) writeFileSync(authority, text)
    const originCertificate = { id: '11111111-2222-4333-8444-555555555555', authority }

    expect(originCertificateProblems(originCertificate, Date.now())).toStrictEqual([expect.stringMatching(problem)])
  })

  it('misses a renewal of the authority in time, and takes no certificate of anything else for one', () => {
    const { certFile } = selfSignedCertificate('leaf.example')
    const originCertificate = { id: '11111111-2222-4333-8444-555555555555', authority: certFile }

    expect(originCertificateProblems(originCertificate, Date.now())).toStrictEqual([
      expect.stringMatching(/holds a certificate that ends in \d+ days$/),
    ])
  })
})
