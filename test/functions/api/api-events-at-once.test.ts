import { expect, it } from 'vitest'
import { anApi } from '../../support/api-event.ts'
import { storedEvent } from '../../support/webhook-builders.ts'

it('the feed shows the events of one millisecond once on each of its tracks', async () => {
  const { deps, caller, ask } = await anApi()
  const { clientId } = caller
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push((await storedEvent(deps, { clientId })).eventId)
  const { body } = await ask('listEvents', { query: { limit: '1' } })
  deps.clock.advance(600)

  const { data } = Object(
    (await ask('listEvents', { query: { after: String(body['next']) } })).body,
  )

  const shown = data.map(({ event_id: id }: { event_id: string }) => id)
  expect(shown.toSorted()).toStrictEqual(ids.toSorted())
})
