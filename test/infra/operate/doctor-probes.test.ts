import { InvokeCommand } from '@aws-sdk/client-lambda'
import { describe, expect, it } from 'vitest'
import { answersClients, functionName, routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { checkRoutes } from '../../../infra/operate/doctor/check-functions.ts'
import { lambdaAnswer, lambdaEvent } from '../../support/lambda-answer.ts'
import { cut, json, type Script, startScriptedServer } from '../../support/scripted-server.ts'
import { awsRefusal } from './aws-refusal.ts'
import { examinedStage } from './examined-stage.ts'

const wellBehaved: Script = (response, request) => {
  const isUnknown = request.url === '/v1/gateway-doctor'
  json(isUnknown ? 404 : 401, { code: isUnknown ? 'not_found' : 'auth' })(response, request)
}

const asked = async (script: Script) => {
  const api = await startScriptedServer(script)
  return { findings: await checkRoutes(api.url, 'prod'), requests: api.requests }
}

describe("the doctor's question to every route", () => {
  it('is asked once of each route of the API, and of a path without one', async () => {
    const { findings, requests } = await asked(wellBehaved)

    const routes = MANIFEST.filter(answersClients).flatMap((spec) => routeKeyOf(spec) ?? [])
    expect(requests.map(({ method, url }) => `${method} ${url}`).toSorted()).toStrictEqual(
      [...routes.map((route) => route.replace('{id}', 'gateway-doctor')), 'GET /v1/gateway-doctor'].toSorted(),
    )
    expect(findings).toMatchObject([{ what: 'routes', state: 'ok' }])
  })

  it.each([
    ['answers 500', json(500, { code: 'internal_error' }), '500 internal_error, not 401 auth'],
    ['leads past our functions', json(401, { message: 'Unauthorized' }), '401 without our envelope, not 401 auth'],
    ['lets the key in', json(200, {}), '200 without our envelope, not 401 auth'],
    ['is not reached', cut, 'no answer (SocketError), not 401 auth'],
  ] as const)('finds the one route that %s', async (_, broken, detail) => {
    const { findings } = await asked((response, request) =>
      (request.url === '/v1/balance' ? broken : wellBehaved)(response, request),
    )

    expect(findings).toMatchObject([{ what: 'route GET /v1/balance', state: 'wrong', detail }])
  })

  it('finds a path without a route that is let through', async () => {
    expect((await asked(json(401, { code: 'auth' }))).findings).toMatchObject([
      { what: 'route GET /v1/gateway-doctor', state: 'wrong', detail: '401 auth, not 404 not_found' },
    ])
  })
})

describe("the doctor's question to operators’ functions", () => {
  const operated = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator')
  const prover = { FunctionName: 'gateway-prod-prove-release' }

  it('goes to each of them once, by the function that proves a release', async () => {
    const { aws, notOk } = await examinedStage('prod')

    expect(await notOk()).toStrictEqual([])
    const inputs = aws.lambda.commandCalls(InvokeCommand).map(({ args: [{ input }] }) => input)
    expect(new Set(inputs.map(({ FunctionName }) => FunctionName))).toStrictEqual(new Set([prover.FunctionName]))
    expect(inputs.flatMap((input) => lambdaEvent(input)['Asks'])).toStrictEqual(
      operated.map((spec) => ({ Target: functionName('prod', spec) })),
    )
  })

  it('finds each that cannot work', async () => {
    const { aws, notOk } = await examinedStage('prod')
    const problem = 'gateway-prod-get-client failed: Error: boom'
    aws.lambda
      .on(InvokeCommand, prover)
      .resolvesOnce(lambdaAnswer({ problems: [problem] }))
      .resolves(lambdaAnswer({ problems: [] }))

    expect(await notOk()).toMatchObject([{ what: 'operator function', state: 'wrong', detail: problem }])
  })

  it('finds that what asks them fails itself', async () => {
    const { aws, notOk } = await examinedStage('prod')
    aws.lambda.on(InvokeCommand, prover).resolves({ ...lambdaAnswer({}), FunctionError: 'Unhandled' })

    expect((await notOk())[0]).toMatchObject({ what: 'operator function', state: 'wrong' })
  })

  it('says that it could not look where the caller may not ask', async () => {
    const { aws, notOk } = await examinedStage('prod')
    aws.lambda.on(InvokeCommand, prover).rejects(awsRefusal('AccessDeniedException'))

    expect(await notOk()).toMatchObject([{ what: 'operator functions', state: 'unclear' }])
  })
})
