import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deployedStage, hasAlarms } from '../../../infra/stack/stage.ts'
import { parseStageFile, readStageFile, StageFileSchema } from '../../../infra/stack/stage-file.ts'
import { DeployedSettings } from '../../../shared/stage-settings.ts'
import { PROJECT_ROOT, projectText } from '../../support/source-file.ts'
import { synthesised } from '../../support/stack-template.ts'

const FILE = 'infra/stages/shop.json'
const devFile = readStageFile('dev')

function parseWith(settings: object) {
  return parseStageFile(FILE, JSON.stringify({ ...devFile, ...settings }))
}
function withFront(settings: object) {
  return { frontSettings: { ...devFile.frontSettings, ...settings } }
}
function withDeliveries(settings: object) {
  return { deliveries: { ...devFile.deliveries, ...settings } }
}

describe("a stage's file", () => {
  it('is read strictly, and the files in infra/stages are valid', () => {
    for (const file of readdirSync(join(PROJECT_ROOT, 'infra/stages'))) {
      expect(readStageFile(file.replace('.json', '')), file).toMatchObject({
        removalPolicy: expect.any(String),
      })
    }
  })

  it('is the file of dev if a stage has no file', () => {
    expect(readStageFile('alice')).toStrictEqual(devFile)
  })

  it('that names only whom to page has alarms', () => {
    expect(hasAlarms(deployedStage('dev'))).toBe(false)
    expect(hasAlarms({ ...deployedStage('dev'), pageRecipients: ['a@b.example'] })).toBe(true)
  })

  it.each([
    ['an unknown setting', { clientRateLimits: 1 }, 'clientRateLimits is no setting'],
    [
      'an unknown setting within another setting',
      withFront({ share: 1 }),
      'frontSettings.share is no setting',
    ],
    ['hour 24', { sweepAtUtc: { hour: 24, minute: 0 } }, 'sweepAtUtc.hour: at most 23'],
    ['hour 2.5', { auditAtUtc: { hour: 2.5, minute: 0 } }, 'auditAtUtc.hour: a whole number'],
    ['minute 60', { sweepAtUtc: { hour: 2, minute: 60 } }, 'sweepAtUtc.minute: at most 59'],
    ['a time without minutes', { sweepAtUtc: { hour: 2 } }, 'sweepAtUtc.minute'],
    [
      'a name that no bank shows',
      { payer: { ...devFile.payer, name: '24/7' } },
      'payer.name: 3 to 50 letters',
    ],
    [
      'a return URL by http',
      { payer: { ...devFile.payer, returnUrl: 'http://shop.example' } },
      'payer.returnUrl: must be an https URL',
    ],
    ['fees as Invoiced', { providerFees: 'Invoiced' }, 'providerFees: '],
    ['no call a minute', { providerCallsPerMinute: 0 }, 'providerCallsPerMinute: at least 1'],
    ['a budget of nothing', { monthlyBudgetUsd: 0 }, 'monthlyBudgetUsd: above 0'],
    [
      'a URL as a domain',
      { domain: { name: 'https://shop.example', zone: { name: 'shop.example', id: 'Z1' } } },
      'domain.name: a name such as',
    ],
    ['a city', { copies: { region: 'Singapore' } }, 'copies.region: a region such as'],
    [
      'eleven digits',
      { location: { account: '12345678901', region: 'eu-west-1' } },
      'location.account: twelve digits',
    ],
    [
      'a table colder than a new one',
      { table: { ...devFile.table, warm: { readUnits: 11_999, writeUnits: 4_000 } } },
      'table.warm.readUnits: at least 12000',
    ],
    ['an address without @', { alarmRecipients: ['ops'] }, 'alarmRecipients.0: an e-mail address'],
    ['a pager by http', { pageRecipients: ['http://p.example'] }, 'pageRecipients.0: an e-mail'],
    [
      'half a request',
      { throttle: { requestsPerSecond: 1, burst: 1.5 } },
      'throttle.burst: a whole number',
    ],
    ['no points a second', { clientRateLimit: 0 }, 'clientRateLimit: at least 1'],
    [
      'no endpoint a payment',
      withDeliveries({ endpointsAPayment: 0 }),
      'deliveries.endpointsAPayment: above 0',
    ],
    [
      '21 endpoints a payment',
      withDeliveries({ endpointsAPayment: 21 }),
      'deliveries.endpointsAPayment: at most 20',
    ],
    [
      'attempts of 10,001 ms',
      withDeliveries({ attemptMs: 10_001 }),
      'deliveries.attemptMs: at most 10000',
    ],
    [
      'an address share of more than a fifth',
      withFront({ addressShare: 0.25 }),
      'addressShare: at most 0.2',
    ],
    ...['203.0.113.7', '203.0.112.0/23', '2001:db8::/64', '999.0.0.1/32', '203.0.113.7/24'].map(
      (range) =>
        [
          `${range} as a merchant's address`,
          withFront({ merchantAddresses: [range] }),
          'merchantAddresses.0: an IPv4 range such as',
        ] as const,
    ),
  ] as const)('is refused with %s, by its name', (_, settings, problem) => {
    expect(() => parseWith(settings)).toThrow(FILE)
    expect(() => parseWith(settings)).toThrow(problem)
  })

  it('has its settings for functions handed on by name', () => {
    const names = Object.keys(DeployedSettings.entries).filter(
      (name) => name in StageFileSchema.entries,
    )
    const handed = projectText('infra/stack/stage.ts')

    expect(names.length).toBeGreaterThan(4)
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(handed))).toStrictEqual([])
  })

  it('is refused without settings, with the names of all missing settings, and when it is not JSON', () => {
    expect(() => parseWith({ throttle: undefined, front: undefined })).toThrow(
      /throttle: .*front: /,
    )
    expect(() => parseStageFile(FILE, '{')).toThrow(`${FILE} is not JSON`)
  })
})

describe('deployedStage', () => {
  it.each(['dev', 'prod', 'alice', 'a', 'pr123', 'a'.repeat(20)])('accepts %s', (name) => {
    expect(deployedStage(name).settings.name).toBe(name)
  })

  it.each([
    ...['', 'Dev', 'my_stage', 'a-', 'prod-api', '1st', 'a'.repeat(21), '../x'].map((name) => [
      name,
      'a name is at most 20 lower-case letters',
    ]),
    ...['local', 'test'].map((name) => [name, 'reserved for the local gateway']),
  ])('refuses %j, because %s', (name, reason) => {
    expect(() => deployedStage(name)).toThrow(reason)
  })
})

const dev = deployedStage('dev')

it.each([
  [
    'loopback webhooks',
    { ...dev, settings: { ...dev.settings, allowLoopbackWebhooks: true } },
    'loopback',
  ],
  [
    'a budget in a stage without a front',
    { ...dev, monthlyBudgetUsd: 1 },
    'monthlyBudgetUsd needs front',
  ],
  [
    'a budget with too many readers',
    { ...deployedStage('prod'), alarmRecipients: Array.from({ length: 11 }, () => 'a@b.example') },
    'ten addresses',
  ],
  ['CloudFront without a domain', { ...dev, front: 'cloudfront' }, 'CloudFront needs a domain'],
  [
    'alarms without the trail that tells them who weakens its protection',
    { ...deployedStage('prod'), invocationTrail: false },
    'set invocationTrail: true',
  ],
  [
    'copies in its own region',
    {
      ...deployedStage('prod'),
      location: { account: '000000000000', region: 'ap-southeast-1' },
      copies: { region: 'ap-southeast-1' },
    },
    'copies.region is another region',
  ],
  [
    'a table that is adopted before it exists',
    { ...dev, table: { ...dev.table, adopted: 2 } },
    'at most generation',
  ],
] as const)('a stage refuses %s', (_, stage, message) => {
  expect(() => synthesised(stage)).toThrow(message)
})
