import { expect } from 'vitest'
import { deletedEndpointKey, endpointKey, entryKey } from '../../../shared/table/keys.ts'
import { deleteEndpoint } from '../../../shared/webhook/endpoint/change-endpoint.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { alter, erase, loseRecords, rawItem } from '../../support/tampering.ts'
import { beforeCommit } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { recount } from './torn-world.ts'

it('a recount removes the row of a deleted endpoint that no record says', async ({
  deps,
  client,
}) => {
  const endpoint = await storedEndpoint(deps, { clientId: client.clientId })
  await alter(deps, endpointKey(endpoint), { ...deletedEndpointKey(endpoint) })

  expect(await recount(deps, client)).toMatchObject({ left: [], not_repairable: [] })

  await expect(rawItem(deps, deletedEndpointKey(endpoint))).rejects.toThrow('there is no')
})

it('a recount makes an endpoint as its records say, unless it changes meanwhile', async ({
  deps,
  client,
}) => {
  const key = endpointKey(await storedEndpoint(deps, { clientId: client.clientId }))
  const row = await rawItem(deps, key)
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
