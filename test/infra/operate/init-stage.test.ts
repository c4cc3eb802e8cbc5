import { X509Certificate } from 'node:crypto'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  ACMClient,
  ImportCertificateCommand,
  ListCertificatesCommand,
  ListTagsForCertificateCommand,
} from '@aws-sdk/client-acm'
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { DescribeLimitsCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { IAMClient } from '@aws-sdk/client-iam'
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { originCertificateProblems } from '../../../infra/operate/check/check-settings.ts'
import { initStage } from '../../../infra/operate/deploy/init-stage.ts'
import {
  type DeployedStage,
  deployedStage,
  PLACEHOLDER_CERTIFICATE,
} from '../../../infra/stack/stage.ts'
import { parseStageFile } from '../../../infra/stack/stage-file.ts'
import { PROJECT_ROOT, projectText } from '../../support/source-file.ts'
import { tempDirectory } from '../../support/temp-directory.ts'
import { awsRefusal, mockOf } from './around-tools.ts'

const iam = mockOf(IAMClient)
const [acm, cloudFormation, dynamodb] = [
  mockOf(ACMClient),
  mockOf(CloudFormationClient),
  mockOf(DynamoDBClient),
]
const [lambda, quotas, sts] = [mockOf(LambdaClient), mockOf(ServiceQuotasClient), mockOf(STSClient)]

const AUTHORITY = 'infra/stack/edge/origin-authority.pem'
const STAGE_FILE = 'infra/stages/prod.json'
const ID = '11111111-2222-4333-8444-555555555555'
const ARN = `arn:aws:acm:us-east-1:000000000000:certificate/${ID}`
const TAGS = [{ Key: 'payment-gateway-origin', Value: 'prod' }]
function denied(action: string) {
  return awsRefusal(
    'AccessDeniedException',
    `User: arn:aws:iam::0:user/ayu is not authorized to perform: ${action} on *`,
  )
}

function accountHas(ConcurrentExecutions: number) {
  lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit: { ConcurrentExecutions } })
}

let root: string
let bootstrapped: string[]
let cdkArgs: (readonly string[])[]

beforeEach(() => {
  root = tempDirectory()
  bootstrapped = []
  cdkArgs = []
  for (const file of [AUTHORITY, STAGE_FILE]) cpSync(join(PROJECT_ROOT, file), join(root, file))
  sts.on(GetCallerIdentityCommand).resolves({ Account: '000000000000', Arn: 'arn:ayu' })
  accountHas(1_000)
  dynamodb
    .on(DescribeLimitsCommand)
    .resolves({ TableMaxReadCapacityUnits: 40_000, TableMaxWriteCapacityUnits: 40_000 })
  quotas.on(GetServiceQuotaCommand).resolves({ Quota: { Value: 2_500 } })
  cloudFormation.on(DescribeStacksCommand).callsFake(async (_, getClient) => {
    if (!bootstrapped.includes(await getClient().config.region()))
      throw awsRefusal('ValidationError', 'does not exist')
    const Outputs = [{ OutputKey: 'BootstrapVersion', OutputValue: '28' }]
    return { Stacks: [{ Outputs }] }
  })
  acm.on(ListCertificatesCommand).resolves({ CertificateSummaryList: [] })
  acm.on(ImportCertificateCommand).resolves({ CertificateArn: ARN })
  iam.onAnyCommand().resolves({})
})

async function init(options: Partial<DeployedStage> = {}, cdkAnswers = 0, repository?: string) {
  const runCdk = async (args: readonly string[]) => {
    cdkArgs.push(args)
    if (cdkAnswers === 0) bootstrapped.push(args.at(-1)?.split('/').at(-1) ?? '')
    return cdkAnswers
  }
  const { frontSettings } = parseStageFile(STAGE_FILE, readFileSync(join(root, STAGE_FILE), 'utf8'))
  const stage = { ...deployedStage('prod'), location: undefined, frontSettings, ...options }
  const findings = await initStage({ stage, region: 'ap-southeast-3', root, repository, runCdk })
  return findings.map(
    ({ what, state, detail, todo }) => `${state} ${what}: ${detail}${todo ? ` -> ${todo}` : ''}`,
  )
}

const QUOTAS_FIT = [
  'ok credentials: account 000000000000 in ap-southeast-3, arn:ayu',
  'ok account concurrency: the account has 1000; synth and concurrency-near-limit use 1000',
  'ok account table units: 40000 reads and 40000 writes a second of one table, and the stage ' +
    'needs 20000 and 20000',
  'ok account API requests: all APIs: 2500 a second; the routes of the stage let through 1888',
]
const REGIONS = ['ap-southeast-3', 'us-east-1', 'ap-southeast-1']
const EVERYTHING_THERE = [
  ...QUOTAS_FIT,
  ...REGIONS.map((region) => `ok CDK bootstrap in ${region}: is there: version 28`),
  'ok origin certificate: is there: infra/stages/prod.json names it',
]
function imports() {
  return acm.commandCalls(ImportCertificateCommand).map(({ args: [{ input }] }) => input)
}

describe('initStage', () => {
  it('makes the role of the pipeline only if a repository is named', async () => {
    await init({ front: 'none' })
    expect(iam.calls()).toHaveLength(0)

    expect((await init({ front: 'none' }, 0, 'shop@11/gateway@22')).at(-1)).toBe(
      'ok role gateway-prod-pipeline: trusts shop@11/gateway@22, environment prod',
    )
  })

  it('makes the bootstraps, and a certificate for clients, signed by the authority that it writes, and finds them the second time', async () => {
    // Those of macOS and OpenSSL 1.1 make no authority by themselves.
    vi.stubEnv('OPENSSL_CONF', join(root, 'least.cnf'))
    writeFileSync(join(root, 'least.cnf'), '[req]\ndistinguished_name=dn\n[dn]\n')
    expect(await init()).toStrictEqual([
      ...QUOTAS_FIT,
      ...REGIONS.map((region) => `ok CDK bootstrap in ${region}: made`),
      `ok origin certificate: made: commit ${STAGE_FILE} and ${AUTHORITY}`,
    ])
    expect(cdkArgs).toStrictEqual(
      REGIONS.map((region) => ['bootstrap', `aws://000000000000/${region}`]),
    )
    const expectedFile = projectText(STAGE_FILE).replace(PLACEHOLDER_CERTIFICATE, ID)
    expect(readFileSync(join(root, STAGE_FILE), 'utf8')).toBe(expectedFile)
    const problems = () =>
      originCertificateProblems({ id: ID, authority: join(root, AUTHORITY) }, Date.now())
    expect(problems()).toStrictEqual([])

    expect(await init()).toStrictEqual(EVERYTHING_THERE)
    expect([cdkArgs.length, imports().length]).toStrictEqual([3, 1])
    const [{ Certificate, CertificateChain, PrivateKey, Tags } = {}] = imports()
    const authority = new X509Certificate(readFileSync(join(root, AUTHORITY)))
    const certificate = new X509Certificate(Buffer.from(Certificate ?? []))
    expect(certificate.verify(authority.publicKey)).toBe(true)
    expect(certificate).toMatchObject({
      ca: false,
      // ACM lists no certificate without a domain.
      subject: 'CN=front.gateway-prod.internal',
      keyUsage: ['1.3.6.1.5.5.7.3.2'],
    })
    expect(Buffer.from(CertificateChain ?? []).toString()).toBe(authority.toString())
    expect(Buffer.from(PrivateKey ?? []).toString()).toContain('PRIVATE KEY')
    expect(Tags).toStrictEqual(TAGS)
    expect(readFileSync(join(root, AUTHORITY), 'utf8')).not.toContain('PRIVATE KEY')
    writeFileSync(join(root, AUTHORITY), certificate.toString())
    expect(problems().join()).toMatch(/holds a certificate that is not of an authority$/)
  })

  it('replaces the existing certificate after a crash between the import and the file, and keeps an authority that another stage may trust', async () => {
    const otherAuthority = projectText('test/support/origin-authority.pem')
    writeFileSync(join(root, AUTHORITY), otherAuthority)
    const CertificateSummaryList = [{ CertificateArn: 'other' }, { CertificateArn: ARN }]
    acm.on(ListCertificatesCommand).resolves({ CertificateSummaryList })
    acm.on(ListTagsForCertificateCommand, { CertificateArn: 'other' }).resolves({ Tags: [] })
    acm.on(ListTagsForCertificateCommand, { CertificateArn: ARN }).resolves({ Tags: TAGS })

    await init()

    expect(imports().map(({ CertificateArn, Tags }) => [CertificateArn, Tags])).toStrictEqual([
      [ARN, undefined],
    ])
    const text = readFileSync(join(root, AUTHORITY), 'utf8')
    expect(text.startsWith(otherAuthority)).toBe(true)
    expect(text.match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
  })

  it('continues after a partial run: keeps existing parts and makes failed ones', async () => {
    bootstrapped = ['ap-southeast-3', 'ap-southeast-1']
    expect((await init({}, 1)).slice(4)).toStrictEqual([
      EVERYTHING_THERE[4],
      'wrong CDK bootstrap in us-east-1: cdk ended with 1 -> the last lines of its output say ' +
        'what failed',
      EVERYTHING_THERE[6],
      `ok origin certificate: made: commit ${STAGE_FILE} and ${AUTHORITY}`,
    ])

    await init()

    expect(await init()).toStrictEqual(EVERYTHING_THERE)
    expect(imports()).toHaveLength(1)
  })

  it.each([
    ['acm:ImportCertificate', ImportCertificateCommand],
    // The mock takes either command, but its type names one.
    ['acm:ListCertificates', ListCertificatesCommand as never],
  ])('names the missing permission %s, and changes no file', async (action, command) => {
    acm.on(command).rejects(denied(action))

    const findings = await init()

    expect(findings).toContain(
      `wrong origin certificate: AccessDeniedException -> use credentials that may do ${action}`,
    )
    for (const file of [AUTHORITY, STAGE_FILE]) {
      expect(readFileSync(join(root, file), 'utf8')).toBe(projectText(file))
    }
  })

  it('creates nothing without credentials', async () => {
    sts.on(GetCallerIdentityCommand).rejects(awsRefusal('ExpiredToken'))

    expect(await init()).toStrictEqual([
      'wrong credentials: ExpiredToken -> aws sso login, or set AWS_PROFILE',
    ])
    expect([cdkArgs, imports()]).toStrictEqual([[], []])
  })

  it('says that openssl is missing', async () => {
    vi.stubEnv('PATH', tempDirectory())

    expect((await init()).at(-1)).toBe('wrong origin certificate: ENOENT -> install openssl')
  })

  it('lists the quotas to request, with the stage’s numbers and the command, and creates all other parts', async () => {
    accountHas(10)
    dynamodb.on(DescribeLimitsCommand).rejects(denied('dynamodb:DescribeLimits'))
    quotas.on(GetServiceQuotaCommand).rejects(awsRefusal('NoSuchResourceException'))
    quotas.on(GetAWSDefaultServiceQuotaCommand).resolves({ Quota: { Value: 1_000 } })

    const findings = await init({ front: 'none' })

    const request = 'aws service-quotas request-service-quota-increase --service-code'
    expect(findings.slice(1, 4)).toStrictEqual([
      `wrong account concurrency: the account has 10; synth and concurrency-near-limit use 1000 -> ${request} lambda --quota-code L-B99A9384 --desired-value 1000, or set accountConcurrency in infra/stages/STAGE.json and deploy`,
      'unclear account table units: AccessDeniedException -> use credentials that may do ' +
        'dynamodb:DescribeLimits',
      `wrong account API requests: all APIs: 1000 a second; the routes of the stage let through 1888 -> ${request} apigateway --quota-code L-8A5B8E43 --desired-value 1888`,
    ])
    expect(findings.slice(4).every((line) => line.startsWith('ok'))).toBe(true)
  })

  it('makes one bootstrap and no certificate for a stage without a front, and checks no quota of a disposable stage', async () => {
    expect(await init({ ...deployedStage('dev'), copies: undefined })).toStrictEqual([
      QUOTAS_FIT[0],
      'ok CDK bootstrap in ap-southeast-3: made',
    ])
  })
})
