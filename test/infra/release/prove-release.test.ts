import { InvokeCommand, type InvokeCommandOutput, LambdaClient } from '@aws-sdk/client-lambda'
import { beforeEach, describe, expect, it } from 'vitest'
import { proveRelease } from '../../../shared/runtime/prove-release.ts'
import { PROBE, PROVEN } from '../../../shared/runtime/release/probe.ts'
import { type Ask, proveVersions } from '../../../shared/runtime/release/prove-versions.ts'
import { lambdaAnswer, lambdaEvent } from '../../support/lambda-answer.ts'
import { json, startScriptedServer } from '../../support/scripted-server.ts'
import { awsRefusal, mockOf } from '../operate/around-tools.ts'

const aws = mockOf(LambdaClient)

function versionOf(name: string) {
  return `arn:aws:lambda:ap-southeast-3:000000000000:function:gateway-dev-${name}:7`
}
const WORKER = { target: versionOf('deliver-webhook') }
const ROUTE = { target: versionOf('api-get-balance'), route: 'GET /v1/balance' }

function failure(errorType: string, errorMessage: string) {
  return {
    ...lambdaAnswer({ errorType, errorMessage, trace: ['at secret.ts'] }),
    FunctionError: 'Unhandled',
  }
}
function http(statusCode: number, body: object) {
  return lambdaAnswer({ statusCode, headers: {}, body: JSON.stringify(body) })
}
const UNAUTHORIZED = http(401, { message: 'invalid credentials', code: 'auth' })

/** The last answer is repeated. */
function setAnswers(
  { target: FunctionName }: Ask,
  ...answers: readonly (InvokeCommandOutput | Error)[]
) {
  const answersLeft = [...answers]
  aws.on(InvokeCommand, { FunctionName }).callsFake(async () => {
    const answer = answersLeft.length > 1 ? answersLeft.shift() : answersLeft[0]
    if (answer instanceof Error) throw answer
    return answer
  })
}

beforeEach(() => {
  setAnswers(WORKER, lambdaAnswer(PROVEN))
  setAnswers(ROUTE, UNAUTHORIZED)
})

async function runProof({ asks = [WORKER, ROUTE], rounds = 3, roundMs = 0 } = {}) {
  let nowMs = 0
  const pauses: number[] = []
  const means = {
    stage: 'dev',
    lambda: new LambdaClient({}),
    nowMs: () => (nowMs += roundMs),
    sleep: async (ms: number) => {
      pauses.push(ms)
      nowMs += ms
    },
  }
  return { problems: await proveVersions(means, { asks, rounds }), pauses }
}

function inputs() {
  return aws.commandCalls(InvokeCommand).map(({ args: [{ input }] }) => input)
}

it('a release is proven by one probe of each version: a fixed event for a worker, a request with an unknown key for a route', async () => {
  expect(await runProof()).toStrictEqual({ problems: [], pauses: [] })
  expect(inputs().map(({ FunctionName }) => FunctionName)).toStrictEqual([
    WORKER.target,
    ROUTE.target,
  ])
  const [worker, route] = inputs().map(lambdaEvent)
  expect(worker).toStrictEqual(PROBE)
  expect(route).toMatchObject({
    routeKey: 'GET /v1/balance',
    headers: { authorization: expect.stringMatching(/^Bearer gk_dev_[0-9a-f-]{36}_[\w-]{43}$/) },
  })
})

describe('a version that cannot work', () => {
  const worker = 'gateway-dev-deliver-webhook:7'
  const route = 'gateway-dev-api-get-balance:7'
  const UNKNOWN = 'to GET /v1/balance with an unknown key instead of 401; see its log'

  it.each<[problem: string, Ask, answer: InvokeCommandOutput | Error]>([
    [`${worker} failed: Error: boom at once`, WORKER, failure('Error', 'boom\n  at once')],
    [
      `${worker} failed: no reason was given`,
      WORKER,
      { ...lambdaAnswer('?'), FunctionError: 'Unhandled' },
    ],
    [
      `${worker} ran, but did not answer the probe`,
      WORKER,
      lambdaAnswer({ batchItemFailures: [] }),
    ],
    [
      `${worker} could not be invoked: ResourceNotFoundException`,
      WORKER,
      awsRefusal('ResourceNotFoundException'),
    ],
    [
      `${route} failed: Runtime.ImportModuleError: no module 'index'`,
      ROUTE,
      failure('Runtime.ImportModuleError', "no module 'index'"),
    ],
    [`${route} answered 500 ${UNKNOWN}`, ROUTE, http(500, { code: 'internal_error' })],
    [`${route} answered 401 ${UNKNOWN}`, ROUTE, http(401, { message: 'Unauthorized' })],
    [`${route} answered 200 ${UNKNOWN}`, ROUTE, http(200, {})],
    [`${route} answered nothing ${UNKNOWN}`, ROUTE, lambdaAnswer(null)],
  ])('is named in every round: %s', async (problem, ask, answer) => {
    setAnswers(ask, answer)

    expect(await runProof()).toStrictEqual({ problems: [problem], pauses: [10_000, 10_000] })
  })

  it('reports only the beginning of a long message, and no stack', async () => {
    setAnswers(WORKER, failure('Error', 'x'.repeat(5_000)))

    expect((await runProof()).problems).toStrictEqual([
      expect.stringMatching(/^(?!.*secret\.ts).{1,299}$/s),
    ])
  })
})

describe('a version that works after a while', () => {
  it.each([
    ['has a role that is not active yet', http(500, { code: 'internal_error' })],
    ['is throttled by other runs', awsRefusal('TooManyRequestsException')],
    ['is still being created', awsRefusal('ResourceConflictException')],
  ])('is probed again, without the other versions, when it %s', async (_, firstAnswer) => {
    setAnswers(ROUTE, firstAnswer, UNAUTHORIZED)

    expect(await runProof()).toStrictEqual({ problems: [], pauses: [10_000] })
    expect(inputs().map(({ FunctionName }) => FunctionName)).toStrictEqual([
      WORKER.target,
      ROUTE.target,
      ROUTE.target,
    ])
  })

  it('is reported after two minutes, however many rounds are left', async () => {
    setAnswers(ROUTE, awsRefusal('TooManyRequestsException'))

    const { problems, pauses } = await runProof({ rounds: 1_000, roundMs: 20_000 })

    expect(problems).toHaveLength(1)
    expect(pauses.length).toBeLessThan(10)
  })
})

it('probes a version once at a time, and five versions at the same time', async () => {
  let [runningCount, maxCount] = [0, 0]
  aws.on(InvokeCommand).callsFake(async () => {
    maxCount = Math.max(maxCount, ++runningCount)
    await new Promise(setImmediate)
    runningCount--
    return lambdaAnswer(PROVEN)
  })

  const { problems } = await runProof({
    asks: Array.from({ length: 12 }, (_, at) => ({ target: versionOf(`f${at}`) })),
  })

  expect(problems).toStrictEqual([])
  expect(maxCount).toBe(5)
})

const PROOF: object = { asks: [{ target: WORKER.target }] }
const BOOM = 'gateway-dev-deliver-webhook:7 failed: Error: boom'

function aRelease(works = true) {
  if (!works) setAnswers(WORKER, failure('Error', 'boom'))
  const pauses: number[] = []
  const sleep = async (ms: number) => void pauses.push(ms)
  return {
    prove: proveRelease({ stage: 'dev', lambda: new LambdaClient({}), nowMs: () => 0, sleep }),
    pauses,
  }
}

const ASKED = { StackId: 'stack', RequestId: 'request', LogicalResourceId: 'ReleaseProof1' }
const SUCCESS = { ...ASKED, Status: 'SUCCESS', Reason: '', PhysicalResourceId: 'ReleaseProof1' }

async function requestProof(
  RequestType: string,
  { works = true, took = json(200, {}), properties = PROOF } = {},
) {
  const { url, requests } = await startScriptedServer(took)
  const { prove, pauses } = aRelease(works)
  const failed = await prove({
    ...ASKED,
    RequestType,
    ResponseURL: `${url}/answer?signature=s`,
    ResourceType: 'Custom::ReleaseProof',
    ResourceProperties: properties,
  }).then(() => '', String)
  return { answered: requests.map(({ body }) => JSON.parse(body)), requests, pauses, failed }
}

describe('the proof that CloudFormation asks for', () => {
  it('succeeds when every version works, after a pause for new roles', async () => {
    const { answered, pauses, requests } = await requestProof('Create')

    expect(answered).toStrictEqual([SUCCESS])
    expect(requests).toMatchObject([
      { method: 'PUT', url: '/answer?signature=s', headers: { 'content-type': '' } },
    ])
    expect([inputs().length, pauses]).toStrictEqual([1, [10_000]])
  })

  it('fails with the function and its answer', async () => {
    const { answered } = await requestProof('Create', { works: false })

    expect(answered).toStrictEqual([{ ...SUCCESS, Status: 'FAILED', Reason: BOOM }])
    expect(inputs()).toHaveLength(6)
  })

  it('fits into the limit of CloudFormation, however many versions fail', async () => {
    const asks = Array.from({ length: 60 }, () => ({ target: WORKER.target }))
    const { requests } = await requestProof('Create', { works: false, properties: { asks } })

    expect(requests[0]?.body.length).toBeLessThan(4_096)
  })

  it.each(['Delete', 'Update'])(
    'probes nothing at %s: the proof must not fail a rollback',
    async (type) => {
      expect((await requestProof(type, { works: false })).answered).toStrictEqual([SUCCESS])
      expect(inputs()).toHaveLength(0)
    },
  )

  it('fails at once when the release names no versions', async () => {
    expect((await requestProof('Create', { properties: {} })).answered).toMatchObject([
      { Status: 'FAILED' },
    ])
  })

  it('is sent three times at most when CloudFormation does not accept the answer', async () => {
    const { failed, requests } = await requestProof('Create', { took: json(503, {}) })

    expect(failed).toContain('CloudFormation did not accept the answer')
    expect(requests).toHaveLength(3)
  })
})

describe('the proof that the doctor asks for', () => {
  it.each([
    [true, []],
    [false, [BOOM]],
  ])('is answered after one round: works %j', async (works, problems) => {
    const { prove, pauses } = aRelease(works)

    expect(await prove(PROOF)).toStrictEqual({ problems })
    expect([inputs().length, pauses]).toStrictEqual([1, []])
  })

  it('sends the fixed probe, whatever route the caller names', async () => {
    await aRelease().prove({ asks: [{ target: WORKER.target, route: 'GET /v1/balance' }] })

    expect(inputs().map(lambdaEvent)).toStrictEqual([PROBE])
  })

  it('refuses any other event', async () => {
    await expect(aRelease().prove({ Records: [] })).rejects.toThrow('asks')
  })
})
