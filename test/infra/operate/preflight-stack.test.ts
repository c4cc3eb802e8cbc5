import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { DescribeSecretCommand, GetSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { GetQueueUrlCommand } from '@aws-sdk/client-sqs'
import { beforeEach, describe, expect, it } from 'vitest'
import { IMPORT_FLAG } from '../../../infra/operate/deploy/check-leftovers.ts'
import { type DeployedStage } from '../../../infra/stack/stage.ts'
import { awsRefusal } from '../../support/aws-refusal.ts'
import {
  beforeTheFirstDeployment,
  cloudFormation,
  dynamodb,
  findingsOf,
  look,
  makeReady,
  notOk,
  ready,
  SPLIT,
  secretsManager,
  sqs,
  stackAbsent,
  stackOf,
} from '../../support/ready-account.ts'

beforeEach(makeReady)

describe('preflight of stack and names', () => {
  it('takes a stack whose creation was rolled back for none', async () => {
    beforeTheFirstDeployment()
    cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod' }).resolves(stackOf({}, 'ROLLBACK_COMPLETE'))

    const { findings, first } = await look()

    expect(notOk(findings)).toStrictEqual([])
    expect(first).toBe(true)
  })

  it.each(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'] as const)(
    'says how to remove a stack that is %s and protected, which CDK cannot',
    async (status) => {
      beforeTheFirstDeployment()
      const {
        Stacks: [stack],
      } = stackOf({}, status)
      cloudFormation
        .on(DescribeStacksCommand, { StackName: 'gateway-prod' })
        .resolves({ Stacks: stack && [{ ...stack, StackName: 'gateway-prod', EnableTerminationProtection: true }] })

      expect(await findingsOf()).toStrictEqual([
        {
          what: 'stack',
          state: 'wrong',
          detail: `gateway-prod is ${status}: its creation failed`,
          todo: 'aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name gateway-prod && aws cloudformation delete-stack --stack-name gateway-prod',
        },
      ])
    },
  )

  it.each([
    ['UPDATE_COMPLETE', 'ok', ''],
    ['UPDATE_ROLLBACK_COMPLETE', 'ok', 'the last deployment was taken back'],
    ['IMPORT_COMPLETE', 'ok', ''],
    ['UPDATE_IN_PROGRESS', 'unclear', ''],
    ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'unclear', ''],
    ['UPDATE_ROLLBACK_FAILED', 'wrong', ''],
    ['UPDATE_FAILED', 'wrong', ''],
    ['DELETE_FAILED', 'wrong', ''],
  ] as const)('finds a stack that is %s %s', async (status, state, word) => {
    cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod' }).resolves(stackOf(SPLIT, status))

    const { findings, first } = await look()

    expect(findings).toContainEqual(
      expect.objectContaining({ what: 'stack', state, detail: expect.stringContaining(word) }),
    )
    expect(first).toBe(false)
  })

  it.each(['CREATE_FAILED', 'UPDATE_FAILED'] as const)(
    'goes on with a stack that is %s when told to',
    async (status) => {
      cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod' }).resolves(stackOf(SPLIT, status))
      if (status === 'CREATE_FAILED')
        secretsManager
          .on(GetSecretValueCommand, { SecretId: 'gateway/prod/provider' })
          .resolves({ SecretString: 'generated' })

      expect(await findingsOf()).toMatchObject([{ what: 'stack', state: 'wrong' }])
      expect(await findingsOf({ flags: ['--no-rollback'] })).toStrictEqual([])
    },
  )

  describe('with a stack from before callback tokens had a secret of their own', () => {
    const older = (text: string) => {
      cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod' }).resolves(stackOf({}, 'UPDATE_COMPLETE'))
      secretsManager.on(GetSecretValueCommand).resolves({ SecretString: text })
      secretsManager.on(DescribeSecretCommand).rejects(awsRefusal('ResourceNotFoundException'))
    }
    const withTokens = (...tokens: readonly string[]) =>
      JSON.stringify({ secret_key: 'xnd_production_key', callback_tokens: tokens })
    const callbackSecret = async () => (await look()).findings.find(({ what }) => what === 'callback secret')

    it('says that the tokens will be copied, or that there are none to copy', async () => {
      older(withTokens('hush-hush-hush-hush'))

      expect(await findingsOf()).toStrictEqual([])
      expect(await callbackSecret()).toMatchObject({
        detail: expect.stringContaining('are copied before any function'),
      })

      older('Generated')
      expect(await findingsOf()).toStrictEqual([])
      expect(await callbackSecret()).toMatchObject({ detail: expect.stringContaining('has no tokens to copy') })
    })

    it('refuses tokens that are in use and under 16 characters, in words and without quoting them', async () => {
      older(withTokens('hush-hush-hush-hush', 'hush-hush-hush-'))

      const findings = await findingsOf()

      expect(findings).toMatchObject([
        { what: 'callback secret', state: 'wrong', detail: expect.stringContaining('16 to 1,024') },
      ])
      expect(JSON.stringify(findings)).not.toContain('hush')
    })

    it('refuses when a secret that no stack can take over has the name of the new one', async () => {
      older(withTokens('hush-hush-hush-hush'))
      secretsManager.on(DescribeSecretCommand, { SecretId: 'gateway/prod/provider-callback' }).resolves({})

      expect(await findingsOf()).toMatchObject([{ what: 'secret gateway/prod/provider-callback', state: 'wrong' }])
    })
  })

  it('looks at the front’s stack as well', async () => {
    const stage: DeployedStage = { ...ready, front: 'cloudfront' }
    cloudFormation
      .on(DescribeStacksCommand, { StackName: 'gateway-prod-front' })
      .rejectsOnce(stackAbsent)
      .resolves(stackOf({}, 'UPDATE_ROLLBACK_FAILED'))

    expect(await findingsOf({ stage })).toStrictEqual([])
    expect(await findingsOf({ stage })).toMatchObject([{ what: 'front stack', state: 'wrong' }])
  })

  it('refuses a table that an earlier stack still holds, unless it is to be taken over', async () => {
    beforeTheFirstDeployment()
    dynamodb.on(DescribeTableCommand, { TableName: 'gateway-prod' }).resolves({ Table: {} })

    expect(await findingsOf()).toMatchObject([
      {
        what: 'table gateway-prod',
        state: 'wrong',
        detail: 'exists without a stack',
        todo: expect.stringMatching(
          /--import-existing-resources.* aws dynamodb delete-table --table-name gateway-prod/,
        ),
      },
    ])
    expect(await findingsOf({ flags: [IMPORT_FLAG] })).toStrictEqual([])
  })

  it.each([
    ['exists', {}],
    ['is scheduled for deletion', { DeletedDate: new Date(0) }],
  ])('refuses a secret that %s even when things are to be taken over: no stack can', async (state, described) => {
    beforeTheFirstDeployment()
    secretsManager.on(DescribeSecretCommand, { SecretId: 'gateway/prod/provider' }).resolves(described)

    expect(await findingsOf({ flags: [IMPORT_FLAG] })).toMatchObject([
      {
        what: 'secret gateway/prod/provider',
        state: 'wrong',
        detail: expect.stringContaining(state),
        todo: expect.stringContaining(
          'aws secretsmanager delete-secret --secret-id gateway/prod/provider --force-delete-without-recovery',
        ),
      },
    ])
  })

  it('refuses queues likewise, each of the template', async () => {
    beforeTheFirstDeployment()
    sqs
      .on(GetQueueUrlCommand)
      .callsFake(({ QueueName }: { QueueName: string }) => ({ QueueUrl: `https://${QueueName}` }))

    const missing = await findingsOf({ flags: [IMPORT_FLAG] })

    expect(missing.map(({ what }) => what)).toStrictEqual(
      expect.arrayContaining(['queue gateway-prod-webhooks', 'queue gateway-prod-stream-dead']),
    )
    expect(missing).toHaveLength(6)
    expect(missing.find(({ what }) => what === 'queue gateway-prod-webhooks')?.todo).toContain(
      'aws sqs delete-queue --queue-url https://gateway-prod-webhooks',
    )
  })

  it('looks for the origin secret and its copy where there is a front', async () => {
    beforeTheFirstDeployment()
    cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-prod-front' }).rejects(stackAbsent)
    secretsManager.on(DescribeSecretCommand, { SecretId: 'gateway/prod/origin' }).resolves({})

    const missing = await findingsOf({ stage: { ...ready, front: 'cloudfront' } })

    expect(missing.map(({ what }) => what)).toStrictEqual([
      'secret gateway/prod/origin',
      'secret gateway/prod/origin in us-east-1',
    ])
    expect(missing[1]?.todo).toContain('stop-replication-to-replica --region us-east-1')
    expect(await findingsOf({ stage: { ...ready, front: 'none' } })).toStrictEqual([])
  })
})
