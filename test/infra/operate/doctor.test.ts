import { DescribeLimitsCommand } from '@aws-sdk/client-dynamodb'
import { ListEntitiesForPolicyCommand } from '@aws-sdk/client-iam'
import {
  type EventSourceMappingConfiguration,
  GetFunctionConcurrencyCommand,
  InvokeCommand,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda'
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns'
import { beforeEach, describe, expect, it } from 'vitest'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { unknownKey } from '../../../shared/runtime/release/prove-versions.ts'
import { lambdaAnswer, lambdaEvent } from '../../support/lambda-answer.ts'
import { awsRefusal } from './around-tools.ts'
import { type ExaminedStage, examinedStage, notOk } from './examined-stage.ts'

let prod: ExaminedStage

beforeEach(async () => {
  prod = await examinedStage('prod')
})

const CALLBACK_PATH = '/callbacks/xendit'
function callbacks() {
  return prod.api.requests.filter(({ url }) => url === CALLBACK_PATH)
}

const PROVER = { FunctionName: 'gateway-prod-prove-release' }
type Mapping = EventSourceMappingConfiguration

function unconfirmed(...topics: readonly string[]) {
  return topics
    .map((name) => `wrong topic gateway-prod-${name}: 0 confirmed, 1 waiting for confirmation`)
    .join('\n')
}

const NOT_CHECKED =
  'not checked: holders through a group or an assumed role, and copies of the policies'
const SOURCE = 'wrong event source gateway-prod'
const NEEDED = 'a second of one table, and the stage needs 20000 and 20000'

describe('the doctor', () => {
  it('finds nothing wrong with a stage that equals its synthesised stacks, and calls each operator function once', async () => {
    const findings = await prod.examine()

    // In the order of the functions that read these queues.
    const queues =
      'webhooks webhooks-slow due-payments due-deliveries due-alerts settlements audits sync'
    expect(notOk(findings)).toStrictEqual([])
    expect(findings.map(({ what }) => what).join(', ')).toBe(
      'data stack, drift of gateway-prod-data, stack, drift of gateway-prod, ' +
        'stack of operators, drift of gateway-prod-operators, provider secret, callback secret, ' +
        'callback with a wrong token, callback with token 1 of 2, callback with token 2 of 2, ' +
        'callback fields, ' +
        'provider key for transactions (Transaction: Read), ' +
        'provider key for payment requests (Money-in: Write), ' +
        'provider key for the balance (Money-out: Read), ' +
        'routes, operator ' +
        'functions, functions, ' +
        'account concurrency, account table units, duties admin and finance, ' +
        'duties finance and approve, role gateway-prod-pipeline, ' +
        queues.replaceAll(/(\S+) ?/g, 'event source gateway-prod-$1, ') +
        'topic gateway-prod-alerts, topic gateway-prod-pages, ' +
        'topic gateway-prod-front-alerts, topic gateway-prod-front-pages, ' +
        'topic gateway-prod-copies-pages, watch stack, drift of gateway-prod-watch, ' +
        'backup stack, drift of gateway-prod-copies, aliases, ' +
        'references between stacks, ' +
        'front stack, drift of gateway-prod-front, origin secret, origin certificate',
    )
    expect(findings.find(({ what }) => what === 'callback fields')?.detail).toMatch(
      /"Payment requests v3" payment status and payment request status, "Unified refunds", and disp/,
    )
    const calls = prod.aws.lambda.commandCalls(InvokeCommand)
    const inputs = calls.map(({ args: [{ input }] }) => input)
    expect(calls.map(({ args }: { args: readonly unknown[] }) => args[1])).toContainEqual({
      requestTimeout: 40_000,
    })
    expect(new Set(inputs.map(({ FunctionName }) => FunctionName))).toStrictEqual(
      new Set([PROVER.FunctionName]),
    )
    expect(inputs.flatMap((input) => lambdaEvent(input)['asks'])).toStrictEqual(
      MANIFEST.flatMap((spec) =>
        spec.trigger.kind === 'operator'
          ? [{ target: `${functionName('prod', spec)}:$LATEST` }]
          : [],
      ),
    )
  })

  it('accepts a topic without a subscriber in dev, which has no alarms', async () => {
    const dev = await examinedStage('dev')
    dev.aws.sns.on(ListSubscriptionsByTopicCommand).resolves({ Subscriptions: [] })

    const findings = await dev.examine()

    expect(notOk(findings)).toStrictEqual([])
    expect(findings.find(({ what }) => what === 'topic gateway-dev-alerts')?.detail).toContain(
      'needs none',
    )
    expect(findings.filter(({ what }) => /pages|aliases|front|origin/.test(what))).toStrictEqual([])
  })

  it('asks every route with an unknown key, and prints neither key nor token', async () => {
    const text = JSON.stringify(await prod.examine())

    const otherRequests = prod.api.requests.filter(({ url }) => url !== CALLBACK_PATH)
    expect(
      otherRequests.every(
        ({ headers }) => headers.authorization === `Bearer ${unknownKey('prod')}`,
      ),
    ).toBe(true)
    expect(prod.provider.requests.every(({ method }) => method === 'GET')).toBe(true)
    expect(text).not.toMatch(/xnd_|(old|new)-token|xxxx/)
  })

  const secretIs = (name: string) =>
    prod.aws.secretsManager.on(GetSecretValueCommand, { SecretId: `gateway/prod/${name}` })

  it.each(['x(7Generated-hush', '{"secret_key":"xnd_development_hush"}'])(
    'names what is wrong with the provider’s secrets, and then sends neither key nor tokens: %s',
    async (SecretString) => {
      secretIs('provider').resolves({ SecretString })
      secretIs('provider-callback').resolves({
        SecretString: '{"callback_tokens": ["hush-hush-hush"]}',
      })

      const problems = await prod.notOk()

      expect(problems).toStrictEqual([
        expect.stringMatching(/^wrong provider secret: .*must be {"secret_key": .*no development/),
        expect.stringMatching(/^wrong callback secret: .*16 to 1,024/),
      ])
      expect(problems.join()).not.toContain('hush')
      expect(prod.provider.requests).toHaveLength(0)
      expect(callbacks()).toHaveLength(1)
    },
  )

  const tableMay = (TableMaxReadCapacityUnits: number, TableMaxWriteCapacityUnits: number) =>
    prod.aws.dynamodb
      .on(DescribeLimitsCommand)
      .resolves({ TableMaxReadCapacityUnits, TableMaxWriteCapacityUnits })
  const stop = (name: string) =>
    prod.aws.lambda
      .on(GetFunctionConcurrencyCommand, { FunctionName: `gateway-prod-${name}` })
      .resolves({ ReservedConcurrentExecutions: 0 })
  const stopProblem = (name: string) =>
    `wrong function gateway-prod-${name}: reserved concurrency is 0`
  const prover = () => prod.aws.lambda.on(InvokeCommand, PROVER)

  const sourcesOf =
    (name: string, change: (mappings: readonly Mapping[]) => readonly Mapping[]) => async () => {
      const FunctionName = `gateway-prod-${name}:live`
      const answer = await awsClients('r').lambda.send(
        new ListEventSourceMappingsCommand({ FunctionName }),
      )
      const EventSourceMappings = [...change(answer.EventSourceMappings ?? [])]
      prod.aws.lambda
        .on(ListEventSourceMappingsCommand, { FunctionName })
        .resolves({ EventSourceMappings })
    }
  const webhooksWith = (changes: Mapping) =>
    sourcesOf('deliver-webhook', ([first, ...others]) => [{ ...first, ...changes }, ...others])

  const policyOf = (duty: string) => ({
    PolicyArn: `arn:aws:iam::000000000000:policy/gateway-prod-${duty}`,
  })
  const holdBothDuties = () =>
    prod.aws.iam
      .on(ListEntitiesForPolicyCommand, policyOf('admin'))
      .resolves({ PolicyUsers: [{ UserName: 'budi' }], PolicyRoles: [{ RoleName: 'payments' }] })
      .on(ListEntitiesForPolicyCommand, policyOf('finance'))
      .resolves({ IsTruncated: true, Marker: 'm', PolicyGroups: [{ GroupName: 'payments' }] })
      .on(ListEntitiesForPolicyCommand, { ...policyOf('finance'), Marker: 'm' })
      .resolves({ PolicyUsers: [{ UserName: 'budi' }, { UserName: 'siti' }] })

  it.each<[found: string, happens: () => unknown]>([
    [`wrong duties admin and finance: both are held by user budi; ${NOT_CHECKED}`, holdBothDuties],
    [
      `wrong duties finance and approve: both are held by group staff, role payments; ${NOT_CHECKED}`,
      () =>
        ['finance', 'approve'].map((duty) =>
          prod.aws.iam
            .on(ListEntitiesForPolicyCommand, policyOf(duty))
            .resolves({
              PolicyGroups: [{ GroupName: 'staff' }],
              PolicyRoles: [{ RoleName: 'payments' }],
            }),
        ),
    ],
    [
      unconfirmed('alerts', 'pages', 'front-alerts', 'front-pages', 'copies-pages'),
      () => {
        const Subscriptions = ['PendingConfirmation', 'Deleted'].map((SubscriptionArn) => ({
          SubscriptionArn,
        }))
        prod.aws.sns.on(ListSubscriptionsByTopicCommand).resolves({ Subscriptions })
      },
    ],
    [
      unconfirmed('front-alerts', 'front-pages', 'copies-pages'),
      () =>
        prod.aws.sns
          .on(ListSubscriptionsByTopicCommand)
          .callsFake(async ({ TopicArn }: { TopicArn: string }, getClient) => {
            const region = await getClient().config.region()
            // SNS knows a topic only in the topic's region.
            if (!TopicArn.includes(`:${region}:`)) throw awsRefusal('NotFoundException')
            const isOwn = region === 'ap-southeast-3'
            return {
              Subscriptions: [
                { SubscriptionArn: isOwn ? 'arn:aws:sns:one' : 'PendingConfirmation' },
              ],
            }
          }),
    ],
    [
      `wrong account table units: 10000 reads and 40000 writes ${NEEDED}`,
      () => tableMay(10_000, 40_000),
    ],
    [
      `wrong account table units: 40000 reads and 19999 writes ${NEEDED}`,
      () => tableMay(40_000, 19_999),
    ],

    [`${stopProblem('api-create-payment')}, should be 240`, () => stop('api-create-payment')],
    [`${stopProblem('prove-release')}, should be none`, () => stop('prove-release')],
    [
      `${SOURCE}-webhooks: state is Disabled, should be Enabled`,
      webhooksWith({ State: 'Disabled' }),
    ],
    [`${SOURCE}-webhooks: batch size is 1, should be 10`, webhooksWith({ BatchSize: 1 })],
    [
      `${SOURCE}-webhooks: maximum concurrency is not set, should be 100`,
      webhooksWith({ ScalingConfig: {} }),
    ],
    [
      `${SOURCE}-webhooks: partial batches is not set, should be ReportBatchItemFailures`,
      webhooksWith({ FunctionResponseTypes: [] }),
    ],
    [
      `${SOURCE}-webhooks: source is another, should be gateway-prod-webhooks`,
      webhooksWith({ EventSourceArn: 'arn:aws:sqs:r:1:another' }),
    ],
    [`${SOURCE}-settlements: is missing`, sourcesOf('settle-client', () => [])],
    [
      `${SOURCE}-webhooks: is missing\n${SOURCE}-webhooks-slow: is missing`,
      sourcesOf('deliver-webhook', () => []),
    ],
    [
      'wrong operator function: get-client failed',
      () =>
        prover()
          .resolvesOnce(lambdaAnswer({ problems: ['get-client failed'] }))
          .resolves(lambdaAnswer({ problems: [] })),
    ],
    [
      'wrong operator function: gateway-prod-prove-release failed; it calls all other ' +
        'operator functions',
      () => prover().resolves({ ...lambdaAnswer({}), FunctionError: 'Unhandled' }),
    ],
    [
      'unclear operator functions: AccessDeniedException',
      () => prover().rejects(awsRefusal('AccessDeniedException')),
    ],

    [
      'wrong origin secret: gateway/prod/origin: must be {"current": "..."}, 32 to 1,024 ' +
        'printable ASCII characters without spaces',
      () => secretIs('origin').resolves({ SecretString: '{"current":"short"}' }),
    ],
    [
      'wrong origin secret: gateway/prod/origin: is missing',
      () => secretIs('origin').rejects(awsRefusal('InvalidRequestException')),
    ],
  ])('reports %s', async (problem, happens) => {
    await happens()

    expect([...new Set(await prod.notOk())].join('\n')).toBe(problem)
  })

  it('warns before the expiry of the certificate that CloudFront shows to the API', async () => {
    await prod.io.sleep(36_500 * 86_400_000)

    expect(await prod.notOk()).toStrictEqual([
      expect.stringMatching(/^wrong origin certificate: .* ends in -?\d+ days$/),
    ])
  })
})
