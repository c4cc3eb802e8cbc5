import { expect } from 'vitest'
import { addMs } from '../../../shared/time.ts'
import { readsOfPage } from '../../../shared/webhook/delivery/announce.ts'
import { webhookTest as it } from './webhook-test.ts'

it('one read of the endpoints serves a page for half of the time that it is fresh', async ({
  deps,
  delivery: { clientId },
}) => {
  const endpointsOf = readsOfPage(deps)
  const now = deps.now()
  const read = endpointsOf(clientId, now)

  expect(endpointsOf(clientId, addMs(now, 2_499))).toBe(read)
  expect(endpointsOf(clientId, addMs(now, 2_500))).not.toBe(read)
})
