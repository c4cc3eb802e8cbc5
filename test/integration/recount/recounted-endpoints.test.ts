import { expect } from 'vitest'
import { auditRecordPk, deletedEndpointKey, endpointKey } from '../../../shared/table/keys.ts'
import { deleteEndpoint } from '../../../shared/webhook/endpoint/change-endpoint.ts'
import { alter, erase, rawItem } from '../../support/tampering.ts'
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
  const pk = auditRecordPk(clientId)
  const { items } = await deps.table.query({ partition: [pk], limit: 1, newestFirst: true })
  await erase(deps, { pk, sk: String(items[0]?.['sk']) })

  expect((await recount(deps, client)).written).toHaveLength(1)
})
