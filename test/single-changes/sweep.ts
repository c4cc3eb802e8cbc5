import { auditLedger } from '../../shared/audit/audit-client.ts'
import { gatewayParts } from '../../shared/audit/gateway-parts.ts'
import { judgeRange } from '../../shared/audit/judge-parts.ts'
import type { ClientId } from '../../shared/ids.ts'
import { exists, put, remove } from '../../shared/table/step.ts'
import { dayNumber } from '../../shared/time.ts'
import { type Base, partialTable } from '../interleavings/partial-table.ts'
import { type TestDeps, withRequests } from '../support/test-deps.ts'
import type { SingleChange } from './single-changes.ts'

export type Audited = { readonly deps: TestDeps; readonly base: Base; readonly clientId: ClientId }

/** `named`: a difference has an id of the row. `found`: only another row's difference. */
export type Outcome = SingleChange & {
  readonly outcome: 'named' | 'found' | 'missed' | 'inconclusive' | 'thrown'
  readonly says: string
}

/** Audits the client and the house in a table that has this one change. */
export async function audited(world: Audited, change: SingleChange): Promise<Outcome> {
  try {
    const { differences, isInconclusive } = await differencesIn(world, change)
    const text = JSON.stringify(differences.slice(0, 3))
    if (differences.length === 0)
      return { ...change, outcome: isInconclusive ? 'inconclusive' : 'missed', says: '' }
    const isNamed = differences.some(({ id }) => isIdOf(id, change))
    return { ...change, outcome: isNamed ? 'named' : 'found', says: text }
  } catch (error) {
    return { ...change, outcome: 'thrown', says: String(error) }
  }
}

async function differencesIn({ deps, base, clientId }: Audited, change: SingleChange | undefined) {
  const table = partialTable(base)
  const auditor = { ...withRequests(deps, table.requestsWith('all')), sleep: async () => {} }
  if (change !== undefined) {
    const { key, item } = change
    await auditor.table.write(item === undefined ? remove(key, exists) : put(key, item))
  }
  const ledger = await auditLedger(auditor, clientId)
  const whole = { historyDay: undefined, standing: [] }
  const parts = await gatewayParts(auditor, whole, dayNumber(auditor.now()))
  const gateway = await judgeRange(parts)
  return {
    differences: [...ledger.differences, ...gateway.byPart.values()].flat(),
    isInconclusive: ledger.balanced === 'inconclusive',
  }
}

/** A difference without a change. */
export async function differencesAtRest(world: Audited) {
  return (await differencesIn(world, undefined)).differences
}

function isIdOf(id: string, { key: { pk, sk } }: SingleChange) {
  return `${pk} ${sk}`.includes(id.split('#', 1)[0] ?? id)
}
