import { expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import type { Client } from '../../../shared/client/client.ts'
import type { Deps } from '../../../shared/deps.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import { journalPk, ledgerPk } from '../../../shared/table/keys.ts'
import { queryAll } from '../../../shared/table/list-items.ts'
import { moneyProblemsOf } from './invariants.ts'

const PAGE = 100

/**
 * Expects that neither the audit nor a recount, which shares no code with the gateway, finds a
 * problem in a client's money. The last line of every test that moves money.
 */
export async function expectBalanced(deps: Deps, { clientId }: Pick<Client, 'clientId'>) {
  const stored = await Promise.all([
    itemsOf(deps, ledgerPk(clientId)),
    itemsOf(deps, journalPk(clientId)),
    listedItems(deps, clientId, 'payment'),
    listedItems(deps, clientId, 'settlement'),
  ])
  expect(moneyProblemsOf(stored.flat(), deps.stage.historySteps?.block)).toStrictEqual([])
  expect(await auditLedger(deps, clientId)).toStrictEqual({ balanced: true, differences: [] })
}

/** Expects that the audit finds nothing in the books of the house. */
export async function expectHouseBalanced(deps: Deps) {
  expect(await auditWholeGateway(deps)).toStrictEqual({ balanced: true, differences: [] })
}

async function itemsOf(deps: Deps, pk: string) {
  return (await queryAll(deps, { partition: [pk], limit: PAGE })).map(toItem)
}

/** All partitions with items that an index lists, each of them whole. */
async function listedItems(deps: Deps, owner: string, entity: string) {
  const rows = await queryAll(deps, { index: 'by-owner', partition: [owner, entity], limit: PAGE })
  const pks = new Set(rows.map(({ pk }) => String(pk)))
  return (await Promise.all([...pks].map((pk) => itemsOf(deps, pk)))).flat()
}
