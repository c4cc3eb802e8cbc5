import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { describe, expect, it, onTestFinished } from 'vitest'
import { proveRelease } from '../../../shared/runtime/prove-release.ts'
import { PROVEN } from '../../../shared/runtime/release/probe.ts'
import { lambdaAnswer } from '../../support/lambda-answer.ts'
import { json, startScriptedServer } from '../../support/scripted-server.ts'

const TARGET = 'arn:aws:lambda:ap-southeast-3:000000000000:function:gateway-dev-deliver-webhook:7'
const PROOF = { Asks: [{ Target: TARGET }] }

/** CloudFormation, and the release's one version. */
const aRelease = async ({ works = true, took = json(200, {}) } = {}) => {
  const aws = mockClient(LambdaClient)
  onTestFinished(() => aws.restore())
  const failed = { ...lambdaAnswer({ errorType: 'Error', errorMessage: 'boom' }), FunctionError: 'Unhandled' }
  aws.on(InvokeCommand).resolves(works ? lambdaAnswer(PROVEN) : failed)
  const cloudFormation = await startScriptedServer(took)
  const pauses: number[] = []
  const sleep = async (ms: number) => void pauses.push(ms)
  const prove = proveRelease({ stage: 'dev', lambda: new LambdaClient({}), nowMs: () => 0, sleep })
  const requested = (RequestType: string, ResourceProperties: unknown = PROOF) =>
    prove({
      RequestType,
      ResponseURL: `${cloudFormation.url}/answer?signature=s`,
      StackId: 'stack',
      RequestId: 'request',
      LogicalResourceId: 'ReleaseProof1',
      ResourceType: 'Custom::ReleaseProof',
      ResourceProperties,
    })
  const answered = () => cloudFormation.requests.map(({ body }) => JSON.parse(body))
  const asked = () => aws.commandCalls(InvokeCommand).length
  return { prove, requested, answered, asked, pauses, requests: cloudFormation.requests }
}

const SUCCESS = {
  Status: 'SUCCESS',
  Reason: '',
  PhysicalResourceId: 'ReleaseProof1',
  StackId: 'stack',
  RequestId: 'request',
  LogicalResourceId: 'ReleaseProof1',
}

describe('the proof that CloudFormation asks for', () => {
  it('succeeds when every version works, after roles had time to act', async () => {
    const { requested, answered, asked, pauses, requests } = await aRelease()

    await requested('Create')

    expect(answered()).toStrictEqual([SUCCESS])
    expect(requests).toMatchObject([{ method: 'PUT', url: '/answer?signature=s', headers: { 'content-type': '' } }])
    expect([asked(), pauses]).toStrictEqual([1, [10_000]])
  })

  it('fails with the function and what it answered', async () => {
    const { requested, answered, asked } = await aRelease({ works: false })

    await requested('Create')

    const Reason = 'gateway-dev-deliver-webhook:7 failed: Error: boom'
    expect(answered()).toStrictEqual([{ ...SUCCESS, Status: 'FAILED', Reason }])
    expect(asked()).toBe(6)
  })

  it('fits into what CloudFormation takes, however many versions fail', async () => {
    const { requested, requests } = await aRelease({ works: false })

    await requested('Create', { ...PROOF, Asks: Array.from({ length: 60 }, (_, at) => ({ Target: `${TARGET}${at}` })) })

    expect(requests[0]?.body.length).toBeLessThan(4_096)
  })

  it.each(['Delete', 'Update'])('asks nothing at %s: a rollback must not fail by it', async (type) => {
    const { requested, answered, asked } = await aRelease({ works: false })

    await requested(type)

    expect(answered()).toStrictEqual([SUCCESS])
    expect(asked()).toBe(0)
  })

  it('fails at once when the release does not say what to ask', async () => {
    const { requested, answered } = await aRelease()

    await requested('Create', {})

    expect(answered()).toMatchObject([{ Status: 'FAILED' }])
  })

  it('is told again when CloudFormation does not take it, and not for ever', async () => {
    const { requested, requests } = await aRelease({ took: json(503, {}) })

    await expect(requested('Create')).rejects.toThrow('CloudFormation did not accept the answer')
    expect(requests).toHaveLength(3)
  })
})

describe('the proof that the doctor asks for', () => {
  it.each([
    [true, 1, []],
    [false, 1, ['gateway-dev-deliver-webhook:7 failed: Error: boom']],
  ])('is answered after one round: works %j', async (works, times, problems) => {
    const { prove, asked, pauses, requests } = await aRelease({ works })

    expect(await prove(PROOF)).toStrictEqual({ problems })
    expect([asked(), pauses, requests]).toStrictEqual([times, [], []])
  })

  it('refuses any other event', async () => {
    await expect((await aRelease()).prove({ Records: [] })).rejects.toThrow('Asks')
  })
})
