/**
 * Goal: DynamoDB accepts the requests of every store. The other integration tests run on the table
 * in memory, which the conformance suite holds to DynamoDB Local. Method: on DynamoDB Local each
 * function of the manifest is called once, in the world of one merchant. No function may fail, and
 * the coverage that V8 counts must name every store.
 */

import { globSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { type FunctionSpec, routeKeyOf } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { createTable } from '../../infra/local/emulators/create-table.ts'
import { localAws } from '../../infra/local/emulators/local-aws.ts'
import { loadHandlers } from '../../infra/local/functions/load-handlers.ts'
import { CALLBACK_TOKEN } from '../../infra/local/provider-simulator/simulator-keys.ts'
import { bookUnmatchedRow } from '../../shared/posting/house-journal.ts'
import { dynamoDbClient, dynamoDbRequests } from '../../shared/runtime/aws/dynamodb-table.ts'
import { callbackSecretName } from '../../shared/secrets.ts'
import { noteOpenTransaction } from '../../shared/sync/job-store.ts'
import { checkOverdueDelivery } from '../../shared/webhook/delivery/check-overdue-delivery.ts'
import { deliverWebhook } from '../../shared/webhook/send/deliver-webhook.ts'
import { API, anApiClient, aPaymentBody, apiEvent, call } from '../support/api-event.ts'
import { describeOnDynamoDb, dynamoDb } from '../support/dynamodb.ts'
import { settledRow } from '../support/fake-provider.ts'
import { fillIn } from '../support/hostile-values.ts'
import { aHouseRow } from '../support/money-rows.ts'
import { lambdaContext } from '../support/operator-actions.ts'
import { operatorWorld, RIGHT_PAYLOADS } from '../support/operator-world.ts'
import { aSucceededPayment } from '../support/paid-builders.ts'
import { aPendingPayment } from '../support/payment-builders.ts'
import { inSteps, settle, withoutFloor } from '../support/settlement-builders.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { notifyOf } from '../support/synced-payment.ts'
import { type TestDeps, testDeps } from '../support/test-deps.ts'
import {
  FAILED,
  messageFor,
  sentFor,
  storedDelivery,
  storedEndpoint,
} from '../support/webhook-builders.ts'

const describe = await describeOnDynamoDb()

type World = Awaited<ReturnType<typeof operatorWorld>> & { readonly deps: TestDeps }

const BODIES: Readonly<Record<string, object>> = {
  'api-create-payment': aPaymentBody(),
  'api-redeliver-to-endpoint': { since: '2026-11-20T04:00:00Z' },
  'receive-provider-callback': { event: 'of.another.product', data: {} },
}

const IDS: Readonly<Record<string, string>> = {
  payments: '$open',
  settlements: '$settlement',
  webhook_deliveries: '$delivery',
  webhook_endpoints: '$endpoint',
}

function request({ name }: FunctionSpec, route: string, { header, names }: World) {
  const collection = /\/v1\/(\w+)\/\{id\}/.exec(route)?.[1] ?? ''
  const id = names[IDS[collection] ?? '']
  const headers = { 'x-callback-token': CALLBACK_TOKEN }
  return apiEvent(route, {
    caller: { authorization: header },
    headers,
    ...(id && { id }),
    body: BODIES[name],
  })
}

async function message(queue: string, { deps, client: { clientId }, names }: World) {
  // The other merchant's books have no differences, so the audit does not wait for a second look.
  if (queue === 'audits') return { client_id: names['$stranger'] }
  if (queue === 'sync') return {}
  if (queue.startsWith('due-')) return { slot: 0, part: 0, parts: 1 }
  if (queue !== 'webhooks') return { client_id: clientId }
  return sentFor(await storedDelivery(deps, await storedEndpoint(deps, { clientId }))).message.body
}

async function eventFor(spec: FunctionSpec, world: World) {
  const { name, trigger } = spec
  if (trigger.kind === 'operator') return fillIn(RIGHT_PAYLOADS[name], world.names)
  if (trigger.kind === 'schedule') return {}
  if (trigger.kind !== 'queue') return request(spec, routeKeyOf(spec) ?? '', world)
  return {
    Records: [{ messageId: 'm1', body: JSON.stringify(await message(trigger.queue, world)) }],
  }
}

async function usedFiles(run: () => Promise<void>) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true })
  await run()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
  const usedScripts = result.filter(({ functions }) =>
    functions.some(
      ({ functionName, ranges: [whole] }) => functionName !== '' && (whole?.count ?? 0) > 0,
    ),
  )
  return new Set(usedScripts.map(({ url }) => url.split('/shared/').at(-1) ?? ''))
}

function isFailure(answer: unknown) {
  const { statusCode = 200, status = 200, batchItemFailures = [] } = v.parse(Answer, answer)
  return Math.max(statusCode, status) >= 500 || batchItemFailures.length > 0
}
const Answer = v.object({
  statusCode: v.optional(v.number()),
  status: v.optional(v.number()),
  batchItemFailures: v.optional(v.array(v.unknown())),
})

async function runRareCases(deps: TestDeps) {
  const { paymentRequestId } = await aPendingPayment(deps, await withoutFloor(deps))
  for (let paid = 0; paid < 2; paid++) {
    const providerPaymentId = deps.provider.pay(paymentRequestId)
    await notifyOf(deps, providerPaymentId)
  }
  const merchant = await anApiClient(deps)
  deps.provider.answer('createRequest', { kind: 'refused', code: 'API_VALIDATION_ERROR' })
  await call(deps, API.createPayment, { caller: merchant, body: aPaymentBody() })
  await call(deps, API.listPayments, { caller: merchant, query: { external_reference: 'INV-1' } })
  const push = { method: 'ewallet', channel_code: 'OVO', customer: { phone: '+6281234567890' } }
  await call(
    { ...deps, stage: { ...deps.stage, pushLimit: { pushes: 1, minutes: 1 } } },
    API.createPayment,
    { caller: merchant, body: aPaymentBody(push) },
  )
  const caller = await anApiClient(deps, { rateLimitPerSecond: 4 })
  for (let calls = 0; calls < 4; calls++) await call(deps, API.getBalance, { caller })
  deps.answerWebhooks(async () => FAILED)
  await deliverWebhook(
    deps,
    messageFor(await storedDelivery(deps, await storedEndpoint(deps), { attempts: 7 })),
  )
  const overdue = await storedDelivery(deps, await storedEndpoint(deps))
  deps.clock.advance(600)
  await checkOverdueDelivery(deps, overdue)
  const client = await withoutFloor(deps)
  for (let paid = 0; paid < 3; paid++) await aSucceededPayment(deps, client)
  deps.clock.advance(86_400 + 600)
  await settle(inSteps(deps), client)
  await noteOpenTransaction(
    deps,
    settledRow({ providerPaymentId: 'py-1', reference: 'none' }, deps.now()),
    deps.now(),
  )
  await bookUnmatchedRow(deps, aHouseRow(deps, 'txn_1', -100))
}

describe('the stores on DynamoDB Local', () => {
  it('are all used when every function is called, and no call fails', async () => {
    // The test has its own table, because schedules act for all clients.
    const { endpoint } = dynamoDb()
    const name = `stores-${crypto.randomUUID()}`
    await createTable(endpoint, name)
    const deps = testDeps({
      requests: dynamoDbRequests({ client: dynamoDbClient(localAws(endpoint)), name }),
    })
    deps.secretValues.set(
      callbackSecretName('test'),
      JSON.stringify({ callback_tokens: [CALLBACK_TOKEN] }),
    )
    const functions = (await loadHandlers(MANIFEST)).filter(
      ({ spec }) => Object.keys(spec.table).length > 0,
    )
    const failed: string[] = []

    const usedStores = await usedFiles(async () => {
      const { names, ...world } = await operatorWorld(deps)
      const openPayment = await aPendingPayment(deps, world.client)
      for (const { spec, withDeps } of functions) {
        const event = await eventFor(spec, {
          deps,
          ...world,
          names: { ...names, $open: openPayment.paymentId },
        })
        if (isFailure(await withDeps(deps)(event, lambdaContext(spec.name)))) failed.push(spec.name)
      }
      await runRareCases(deps)
    })

    const stores = globSync('**/*-store.ts', { cwd: `${PROJECT_ROOT}/shared` })
    expect({ failed, unused: stores.filter((store) => !usedStores.has(store)) }).toStrictEqual({
      failed: [],
      unused: [],
    })
    expect(stores.length).toBeGreaterThan(20)
  })
})
