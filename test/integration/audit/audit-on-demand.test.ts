import { expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { aSyncWorld } from '../../support/synced-payment.ts'
import { testWith } from '../../support/test-with.ts'

const it = testWith(() => aSyncWorld(), 'deps', 'client')

it('an audit on demand leaves what it has no time for to the audit of the day, for which it asks', async ({
  deps,
  client: { clientId },
}) => {
  let readAt = 0
  const slow = { ...deps, monotonicMs: () => (readAt += 100_000) }
  // Its registration has asked for an audit.
  deps.sent.length = 0

  await auditLedger(slow, clientId)

  expect(deps.sent).toMatchObject([{ message: { body: { client_id: clientId } } }])
})
