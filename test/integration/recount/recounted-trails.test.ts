import { expect, test } from 'vitest'
import { issueApiKey, revokeApiKey } from '../../../shared/client/api-key-store.ts'
import { changeClient } from '../../../shared/client/client-store.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { deletedEndpointKey, endpointKey, entryKey } from '../../../shared/table/keys.ts'
import { deleteEndpoint } from '../../../shared/webhook/endpoint/change-endpoint.ts'
import { adjustBalance, aFinding } from '../../support/money-rows.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aLoneClient,
  fail,
  payOut,
  recredit,
  settledAmount,
} from '../../support/settlement-builders.ts'
import { alter, erase, keyOfRow, loseRecords, rawItem } from '../../support/tampering.ts'
import { beforeCommit, beforeFirst, recordTable, type TableCall } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { recount } from './torn-world.ts'

it('a recount makes an endpoint as its records say, unless it changes meanwhile', async ({
  deps,
  client,
}) => {
  const endpoint = await storedEndpoint(deps, { clientId: client.clientId })
  const key = endpointKey(endpoint)
  const row = await rawItem(deps, key)
  await alter(deps, key, deletedEndpointKey(endpoint))
  await alter(deps, key, { enabled: false, slow_since: 'x', last_alert_at: 'x' })
  const overtaken = beforeCommit(deps, () => alter(deps, key, { event_types: [] }))

  expect((await recount(overtaken, client)).left).not.toStrictEqual([])

  expect((await recount(deps, client)).left).toStrictEqual([])
  expect(await rawItem(deps, key)).toStrictEqual(row)
})

it('a recount counts an endpoint whose record of deletion it writes anew as gone', async ({
  deps,
  client,
}) => {
  const { clientId } = client
  const endpoint = await storedEndpoint(deps, { clientId })
  deps.clock.advance(1)
  await deleteEndpoint(deps, { ...endpoint, operator: 'ana' })
  await loseRecords(deps, clientId, -1)

  expect((await recount(deps, client)).written).toHaveLength(1)
})

it('a recount writes a lost record of an operator before its own', async ({ deps, client }) => {
  await adjustBalance(deps, client, 'correction', -5_000)
  await adjustBalance(deps, client, 'written_off', 5_000)
  deps.clock.advance(1)
  const { entry } = await adjustBalance(deps, client, 'written_off', -5_000)
  await erase(deps, entryKey(client.clientId, entry))
  await loseRecords(deps, client.clientId, -1)
  deps.clock.advance(120)
  await recount(deps, client)

  expect((await recount(deps, client)).left).toStrictEqual([])
})

async function world() {
  const { deps, client } = await aLoneClient()
  const by = { clientId: client.clientId, operator: 'ana' }
  await storedEndpoint(deps, { ...by, eventTypes: ['settlement.recorded'] })
  await aFinding(deps, { payment: { ...by, paymentId: undefined } })
  const { keyId } = (await issueApiKey(deps, by)).key
  const settlement = await fail(deps, await settledAmount(deps, client))
  await payOut(deps, await settledAmount(deps, client))
  return { deps, client, by, keyId, settlement }
}

test.for<
  [
    row: string,
    altered?: object,
    act?: (torn: Awaited<ReturnType<typeof world>>) => Promise<unknown>,
  ]
>([
  [
    'CLIENT#',
    { name: 'x' },
    ({ deps, by }) => changeClient(deps, { ...by, changes: { payoutHold: 'fraud' } }),
  ],
  ['APIKEY#', { prefix: 'x' }, ({ deps, by, keyId }) => revokeApiKey(deps, { ...by, keyId })],
  ['SETTLEMENT#', { owner: 'x' }, ({ deps, settlement }) => recredit(deps, settlement)],
  ['SUSPENSE#', { owner: 'x' }],
  ['NOTED#'],
  ['LEDGER#'],
  ['EVENT#settlement'],
  ['DELIVERY#'],
  ['PAYOUTREF#'],
])(
  'a recount writes nothing over what another has written to a torn %s',
  async ([prefix, altered, act = ({ deps, client }) => recount(deps, client)]) => {
    const torn = await world()
    const { deps, client, by } = torn
    const key = keyOfRow({ ...deps.stored.items(prefix)[0] })
    await (altered ? alter(deps, key, altered) : erase(deps, key))
    deps.clock.advance(120)
    const planning = recordTable(deps)
    const { plan } = await recountLedger(planning.deps, by)
    // A write reads the head after the plan is derived: the chain refuses nothing.
    const isHead = (call: TableCall) => call.name === 'get' && call.keys[0]?.sk === 'HEAD'
    let readsLeft = planning.calls.filter(isHead).length

    const overtaken = beforeFirst(
      deps,
      (call) => isHead(call) && readsLeft-- === 0,
      () => act(torn),
    )
    const answer = await recountLedger(overtaken, { ...by, plan })

    expect(answer).toMatchObject({ written: [], left: [{}] })
    for (let time = 0; time < 2; time++) await recount(deps, client)
    await expectBalanced(deps, client)
  },
)
