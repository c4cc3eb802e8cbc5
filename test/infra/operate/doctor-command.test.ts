import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { ListSubscriptionsByTopicCommand } from '@aws-sdk/client-sns'
import { beforeEach, describe, expect, it } from 'vitest'
import { runDoctor } from '../../../infra/operate/doctor/run-doctor.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { stageTemplate } from '../../../infra/stack/stage-template.ts'
import { awsRefusal } from '../../support/aws-refusal.ts'
import { deployedAws } from '../../support/deployed-stage.ts'
import { callbackApi, providerApi } from '../../support/examined-borders.ts'
import type { ScriptedServer } from '../../support/scripted-server.ts'

const TEMPLATES = { dev: stageTemplate(deployedStage('dev')), prod: stageTemplate(deployedStage('prod')) }

let api: ScriptedServer
let provider: ScriptedServer

beforeEach(async () => {
  api = await callbackApi()
  provider = await providerApi()
})

const deployed = (stage: keyof typeof TEMPLATES) => deployedAws(TEMPLATES[stage], { ApiUrl: api.url })

describe('npm run doctor', () => {
  const doctor = async (...argv: readonly string[]) => {
    const printed: string[] = []
    const io = { out: (text: string) => void printed.push(text), err: (text: string) => void printed.push(text) }
    const env = { AWS_REGION: 'ap-southeast-3' }
    return { code: await runDoctor(argv, { ...io, env, providerUrl: provider.url }), text: printed.join('\n') }
  }

  it('ends with 0 when nothing is wrong, on dev too, to whose topic nobody listens', async () => {
    deployed('dev').sns.on(ListSubscriptionsByTopicCommand).resolves({ Subscriptions: [] })

    const { code, text } = await doctor('--stage', 'dev')

    expect(code).toBe(0)
    expect(text).toMatch(/^ok {14}table gateway-dev: /m)
  })

  it('ends with 1 when something is, and says it as JSON when asked', async () => {
    deployed('prod').sns.on(ListSubscriptionsByTopicCommand).resolves({ Subscriptions: [] })

    const { code, text } = await doctor('--stage', 'prod', '--json')

    expect(code).toBe(1)
    expect(JSON.parse(text)).toContainEqual(
      expect.objectContaining({ what: 'topic gateway-prod-alerts', state: 'wrong' }),
    )
  })

  it('ends with 3 when nothing is wrong but something could not be looked at', async () => {
    const aws = deployed('dev')
    aws.sns.on(ListSubscriptionsByTopicCommand).rejects(awsRefusal('AccessDenied'))
    expect((await doctor('--stage', 'dev')).code).toBe(3)

    aws.cloudFormation.on(DescribeStacksCommand).rejects(awsRefusal('CredentialsProviderError'))

    expect((await doctor('--stage', 'dev')).code).toBe(3)
  })

  it.each([
    [[], 'name the stage with --stage NAME'],
    [['--stage'], '--stage'],
    [['--stage='], '--stage needs a value'],
    [['--stage', ''], '--stage needs a value'],
    [['--stage', 'prod', '--frob'], "Unknown option '--frob'"],
    [['--stage', 'local'], 'stage local is reserved for the local gateway'],
    [['--stage', 'No Such'], 'a name is at most 20'],
  ])('ends with 2 when called as %j, and says why', async (argv, message) => {
    const { code, text } = await doctor(...argv)

    expect(code).toBe(2)
    expect(text.split('\n')[0]).toContain(message)
  })
})
