import { expect, it } from 'vitest'
import { settlementKey } from '../../../shared/table/keys.ts'
import { askForFile, aWaitingSettlement } from '../../support/batch-builders.ts'
import { putRaw, type Raw, rawItem } from '../../support/tampering.ts'
import { memoryDeps } from '../../support/test-deps.ts'

it.each<[string, (row: Raw) => Raw]>([
  ['a sum that is no number', (row) => ({ ...row, net_minor: 'much' })],
  ['the id of another one', (row) => ({ ...row, settlement_id: crypto.randomUUID() })],
])('payout-file leaves out a settlement with %s, and pays the others', async (_, change) => {
  const deps = memoryDeps()
  const broken = await aWaitingSettlement(deps)
  const other = await aWaitingSettlement(deps)
  await putRaw(deps, change(await rawItem(deps, settlementKey(broken.settlementId))))

  const { status, body } = await askForFile(deps)

  expect([status, body]).toMatchObject([
    200,
    {
      batch: { count: 1, total_minor: other.netMinor },
      left_out: [
        {
          settlement_id: broken.settlementId,
          client_id: broken.clientId,
          amount_minor: null,
          reason: expect.stringContaining('cannot be read'),
          command: expect.stringContaining(`audit-ledger --client_id ${broken.clientId}`),
        },
      ],
    },
  ])
})
