import { expect } from 'vitest'
import { deletedEndpointKey, endpointKey } from '../../../shared/table/keys.ts'
import { alter, putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { clientTest as it } from '../settlement/client-test.ts'
import { recount } from './torn-world.ts'

it('a recount removes the row of a deleted endpoint that no record says', async ({
  deps,
  client,
}) => {
  const endpoint = await storedEndpoint(deps, { clientId: client.clientId })
  const live = await rawItem(deps, endpointKey(endpoint))
  await putRaw(deps, { ...live, ...deletedEndpointKey(endpoint) })

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
  const overtaken = beforeFirst(deps, 'transact', () => alter(deps, key, { event_types: [] }))

  expect((await recount(overtaken, client)).left).not.toStrictEqual([])

  expect((await recount(deps, client)).left).toStrictEqual([])
  expect(await rawItem(deps, key)).toStrictEqual(row)
})
