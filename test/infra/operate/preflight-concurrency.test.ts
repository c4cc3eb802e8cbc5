import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand } from '@aws-sdk/client-lambda'
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { beforeEach, describe, expect, it } from 'vitest'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { stageTemplate } from '../../../infra/stack/stage-template.ts'
import {
  cloudFormation,
  findingsOf,
  GOOD_SECRET,
  lambda,
  look,
  makeReady,
  notOk,
  ready,
  secretsManager,
  stackOf,
} from '../../support/ready-account.ts'

/** What the template reserves, which is what Lambda will be asked for. */
const RESERVED = stageTemplate(ready)
  .ofType('AWS::Lambda::Function')
  .flatMap(({ properties: { FunctionName, ReservedConcurrentExecutions: runs } }) =>
    typeof runs === 'number' ? [{ FunctionName: String(FunctionName), runs }] : [],
  )

beforeEach(makeReady)

describe('preflight of concurrency', () => {
  const unreserved = (UnreservedConcurrentExecutions: number) =>
    lambda
      .on(GetAccountSettingsCommand)
      .resolves({ AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions } })

  it('wants so much concurrency that a hundred executions are left to share', async () => {
    const reserved = RESERVED.reduce((sum, { runs }) => sum + runs, 0)

    unreserved(100 + reserved)
    expect(await findingsOf()).toStrictEqual([])
    unreserved(99 + reserved)
    expect(await findingsOf()).toMatchObject([{ what: 'Lambda concurrency', state: 'wrong' }])
    expect(reserved).toBeGreaterThan(500)
  })

  it('wants nothing of a new account for a stage that reserves nothing', async () => {
    unreserved(10)
    cloudFormation.on(DescribeStacksCommand, { StackName: 'gateway-dev' }).resolves(stackOf({}, 'UPDATE_COMPLETE'))
    secretsManager.on(GetSecretValueCommand, { SecretId: 'gateway/dev/provider' }).resolves(GOOD_SECRET)

    expect(await findingsOf({ stage: deployedStage('dev') })).toStrictEqual([])
  })

  it('says when the alarm near the limit counts with another one than the account has, and goes on', async () => {
    lambda
      .on(GetAccountSettingsCommand)
      .resolves({ AccountLimit: { ConcurrentExecutions: 3_000, UnreservedConcurrentExecutions: 3_000 } })

    const { findings } = await look()

    expect(notOk(findings)).toStrictEqual([])
    expect(findings.find(({ what }) => what === 'account concurrency')).toMatchObject({
      detail: '3000, and concurrency-near-limit counts with 1000',
      todo: 'set accountConcurrency in infra/stack/stage.ts and deploy',
    })
  })

  it('does not count twice what an earlier deployment reserved', async () => {
    for (const { FunctionName, runs } of RESERVED) {
      lambda.on(GetFunctionConcurrencyCommand, { FunctionName }).resolves({ ReservedConcurrentExecutions: runs })
    }
    unreserved(100)

    expect(await findingsOf()).toStrictEqual([])
  })

  it('counts only what is reserved anew, whatever another function gives back', async () => {
    const [first, second] = RESERVED
    for (const { FunctionName, runs } of RESERVED) {
      const found = FunctionName === first?.FunctionName ? runs - 1 : runs
      lambda
        .on(GetFunctionConcurrencyCommand, { FunctionName })
        .resolves({ ReservedConcurrentExecutions: FunctionName === second?.FunctionName ? runs + 1 : found })
    }

    unreserved(100)
    expect(await findingsOf()).toMatchObject([{ what: 'Lambda concurrency', state: 'wrong' }])
    unreserved(101)
    expect(await findingsOf()).toStrictEqual([])
  })
})
