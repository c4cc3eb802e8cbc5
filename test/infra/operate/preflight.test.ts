import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { GetHostedZoneCommand } from '@aws-sdk/client-route-53'
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts'
import { beforeEach, describe, expect, it } from 'vitest'
import { originCertificateProblems } from '../../../infra/operate/check/check-origin-certificate.ts'
import { checkStage } from '../../../infra/operate/deploy/check-stage.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { awsRefusal } from '../../support/aws-refusal.ts'
import { selfSignedCertificate } from '../../support/https-servers.ts'
import {
  beforeTheFirstDeployment,
  cloudFormation,
  findingsOf,
  look,
  makeReady,
  notOk,
  ready,
  route53,
  secretsManager,
  stackOf,
  sts,
  toolkit,
  zone,
} from '../../support/ready-account.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

const AUTHORITY = readFileSync(ready.frontSettings.originCertificate?.authority ?? '', 'utf8')

beforeEach(makeReady)

describe('preflight', () => {
  it('finds nothing missing in an account that has everything', async () => {
    const { findings, first } = await look()

    expect(notOk(findings)).toStrictEqual([])
    expect(findings.map(({ what }) => what)).toStrictEqual([
      'stage settings',
      'packages',
      'region',
      'credentials',
      'CDK bootstrap in ap-southeast-3',
      'CDK bootstrap in us-east-1',
      'domain pay.example.org',
      'Lambda concurrency',
      'account concurrency',
      'stack',
      'provider secret',
      'callback secret',
      'front stack',
    ])
    expect(first).toBe(false)
  })

  it('misses a return URL and somebody to tell in a stage that keeps its data, and only there', async () => {
    const bare = deployedStage('prod')

    expect(await findingsOf({ stage: { ...ready, settings: bare.settings } })).toMatchObject([
      { what: 'stage settings', state: 'wrong', detail: 'the return URL is still https://example.com/' },
    ])
    expect(await findingsOf({ stage: { ...ready, alarmRecipients: [] } })).toMatchObject([
      { what: 'stage settings', state: 'wrong', detail: 'nobody is told of an alarm' },
    ])
    expect(checkStage({ ...bare, deletionProtection: false })).toMatchObject([{ state: 'ok' }])
  })

  it('misses the domain of production, and what the origin knows its front by, as it misses the return URL', () => {
    const problems = (stage: DeployedStage) => checkStage(stage).map(({ detail }) => detail)

    expect(problems(deployedStage('prod'))).toStrictEqual([
      'the return URL is still https://example.com/',
      'nobody is told of an alarm',
      'the domain is still pay.example.com',
      'the id of the front’s certificate is still the placeholder',
      'infra/stack/edge/origin-authority.pem is still the placeholder',
    ])
    expect(checkStage(deployedStage('prod')).every(({ state }) => state === 'wrong')).toBe(true)
    expect(problems(ready)).toStrictEqual(['prod keeps its data; 1 recipients'])
    expect(
      problems({ ...ready, frontSettings: { ...ready.frontSettings, originCertificate: undefined } }),
    ).toStrictEqual(['the origin cannot tell the front from others before a function runs'])
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

  it('misses a region, and asks AWS nothing without one', async () => {
    expect(await findingsOf({ region: undefined })).toMatchObject([{ what: 'region', state: 'wrong' }])
    expect(sts.calls()).toHaveLength(0)
  })

  it('misses credentials, shows no message of AWS and looks no further', async () => {
    sts.on(GetCallerIdentityCommand).rejects(awsRefusal('ExpiredTokenException'))

    expect(await findingsOf()).toMatchObject([{ what: 'credentials', state: 'wrong', detail: 'ExpiredTokenException' }])
    expect(cloudFormation.calls()).toHaveLength(0)
  })

  it.each(['ENOTFOUND', 'ETIMEDOUT', 'TimeoutError'])(
    'does not ask anyone to sign in when nobody answers: %s',
    async (code) => {
      sts
        .on(GetCallerIdentityCommand)
        .rejects(Object.assign(new Error('getaddrinfo'), { code, name: code.startsWith('E') ? 'Error' : code }))

      expect(await findingsOf()).toMatchObject([
        { what: 'credentials', detail: `no network (${code})`, todo: 'check the network, then try again' },
      ])
    },
  )

  it.each([
    ['is not done', () => Promise.reject(awsRefusal('ValidationError', 'CDKToolkit does not exist')), 'not done yet'],
    ['is too old', () => Promise.resolve(toolkit('7')), 'version 7, needs 8 or later'],
    ['says no version', () => Promise.resolve(stackOf({}, 'UPDATE_COMPLETE')), 'version unknown, needs 8 or later'],
  ])('misses the bootstrap when it %s', async (_, answer, detail) => {
    cloudFormation.on(DescribeStacksCommand, { StackName: 'CDKToolkit' }).callsFake(answer)

    expect(await findingsOf()).toMatchObject(
      ['ap-southeast-3', 'us-east-1'].map((region) => ({ what: `CDK bootstrap in ${region}`, state: 'wrong', detail })),
    )
  })

  it('looks at the bootstrap of us-east-1 too when CloudFront stands in front', async () => {
    const bootstraps = async (front: 'none' | 'cloudfront') =>
      (await look({ stage: { ...ready, front } })).findings.filter(({ what }) => what.startsWith('CDK bootstrap'))

    expect((await bootstraps('cloudfront')).map(({ what }) => what)).toContain('CDK bootstrap in us-east-1')
    expect(await bootstraps('none')).toHaveLength(1)
  })

  it.each([
    [
      'is not there',
      () => Promise.reject(awsRefusal('NoSuchHostedZone')),
      'there is no hosted zone Z1 in this account',
    ],
    ['has another name', () => Promise.resolve(zone('example.net')), 'zone Z1 is example.net, not example.org'],
    ['is private', () => Promise.resolve(zone('example.org', true)), 'zone Z1 is private'],
  ])('misses a hosted zone that %s', async (_, answer, detail) => {
    route53.on(GetHostedZoneCommand).callsFake(answer)

    expect(await findingsOf()).toMatchObject([{ what: 'domain pay.example.org', state: 'wrong', detail }])
  })

  it('refuses a domain that only looks as if it were in its zone', async () => {
    const domain = { name: 'pay.badexample.org', zone: { name: 'example.org', id: 'Z1' } }

    expect(await findingsOf({ stage: { ...ready, domain } })).toMatchObject([
      { what: 'domain pay.badexample.org', state: 'wrong', detail: 'is not in zone example.org' },
    ])
  })

  it.each([
    ['provider', 'is missing', undefined, 'is missing'],
    ['provider', 'is the generated text', 'x(7Generated', 'it is not JSON'],
    ['provider', 'has a key of spaces', '{"secret_key":" "}', 'secret_key'],
    ['callback', 'is missing', undefined, 'is missing'],
    ['callback', 'is the generated text', 'x(7Generated', 'it is not JSON'],
    ['callback', 'has no tokens', '{"callback_tokens":[]}', 'callback_tokens'],
    ['callback', 'has a token of 15 characters', '{"callback_tokens":["hush-hush-hush-"]}', '16 to 1,024'],
  ])('does not refuse a second deployment when the %s secret %s, and says so', async (which, _, text, detail) => {
    const SecretId = which === 'provider' ? 'gateway/prod/provider' : 'gateway/prod/provider-callback'
    const stored = secretsManager.on(GetSecretValueCommand, { SecretId })
    if (text === undefined) stored.rejects(awsRefusal('ResourceNotFoundException'))
    else stored.resolves({ SecretString: text })

    const { findings } = await look()
    const secret = findings.find(({ what }) => what === `${which} secret`)

    expect(notOk(findings)).toStrictEqual([])
    expect(secret?.detail).toContain(detail)
    expect(secret?.todo).toContain(SecretId)
    expect(JSON.stringify(findings)).not.toMatch(/hush|Generated/)
  })

  it('does not want a provider secret before the first deployment, and says that it must follow', async () => {
    beforeTheFirstDeployment()

    const { findings, first } = await look()

    expect(notOk(findings)).toStrictEqual([])
    expect(first).toBe(true)
    for (const secret of ['provider secret', 'callback secret']) {
      expect(findings.find(({ what }) => what === secret)?.detail).toContain('filled in after it')
    }
    expect(secretsManager.commandCalls(GetSecretValueCommand)).toHaveLength(0)
  })

  it('says where it could not look, without a message of AWS, and looks at the rest', async () => {
    route53.on(GetHostedZoneCommand).rejects(awsRefusal('AccessDenied'))

    const missing = await findingsOf()

    expect(missing).toStrictEqual([
      { what: 'domain', state: 'unclear', detail: 'AccessDenied', todo: 'use credentials that may read this' },
    ])
  })
})
