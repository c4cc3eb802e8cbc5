import type { Client } from '../../../shared/client/client.ts'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { auditedNow, sweptADayLater, withoutFloor } from '../../support/settlement-builders.ts'
import { memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'

export async function aRecordedSettlement(
  fields: Parameters<typeof withoutFloor>[1] = {},
  makePayment = aSucceededPayment,
) {
  const deps = memoryDeps()
  const client = await withoutFloor(deps, fields)
  const payment = await makePayment(deps, client)
  const settlement = await sweptADayLater(deps, client)
  const request = {
    operator: OPERATOR,
    settlement_id: settlement.settlementId,
    bank_reference: 'BCA17',
  }
  const pay = async (more: object = {}, payDeps: TestDeps = deps) => {
    const { status, body } = await invokeWhole('mark-settlement-paid', payDeps, {
      ...request,
      ...more,
    })
    return { status, body }
  }
  const status = async () => (await findAnySettlement(deps, settlement.settlementId)).status
  return { deps, client, payment, settlement, pay, status }
}

export async function anAuditedSettlement(...options: Parameters<typeof aRecordedSettlement>) {
  const world = await aRecordedSettlement(...options)
  await auditedNow(world.deps, world.settlement)
  return world
}

export const auditedTest = testWith(
  () => anAuditedSettlement(),
  'deps',
  'client',
  'payment',
  'settlement',
  'pay',
  'status',
)

export function differenceOf({ clientId: id }: Client) {
  return { what: 'window.written_off_minor', id, expected: 0, found: 5 }
}
