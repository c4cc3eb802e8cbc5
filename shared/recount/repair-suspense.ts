import { compareWithNotes } from '../audit/judged/audit-registers.ts'
import type { ClientId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import {
  MOVED_CAUSES,
  type Noted,
  NotedSchema,
  type Suspense,
  SuspenseSchema,
} from '../suspense/suspense.ts'
import { ensureSuspense, noteSuspense, restoreNoted } from '../suspense/suspense-store.ts'
import { notedKey, suspenseKey } from '../table/keys.ts'
import type { Steps } from '../table/table.ts'
import { compare, type Difference, isSame } from '../verdict/difference.ts'
import type { RecountDeps, Repair } from './repair.ts'

/**
 * Repairs items that differ from the suspense register: a lost item is written anew as it was born,
 * a lost row of the register is written from its item, and an item gets back what the register
 * says.
 */
export async function repairSuspense(
  deps: RecountDeps,
  clientId: ClientId,
  expected: readonly Difference[],
): Promise<readonly Repair[]> {
  const named = expected.filter(({ what }) => /^(suspense|noted)\b/.test(what))
  const repairs: Repair[] = []
  for (const subject of new Set(named.map(({ id }) => id))) {
    const { found, steps } = await planRepair(deps, clientId, subject)
    const targets = found.filter((one) => named.some((difference) => isSame(difference, one)))
    if (targets.length > 0) repairs.push({ subject, targets, steps: () => steps })
  }
  return repairs
}

type Plan = { readonly found: readonly Difference[]; readonly steps: Steps<string> }

async function planRepair(deps: RecountDeps, clientId: ClientId, id: string): Promise<Plan> {
  const [stored, register] = await Promise.all([
    deps.table.get(suspenseKey(id)),
    deps.table.get(notedKey({ clientId, suspenseId: id })),
  ])
  const [item, noted] = [ifValid(SuspenseSchema, stored), ifValid(NotedSchema, register)]
  if (item && noted) {
    const found = await compareWithNotes(deps, item, [{ id, clientId, noted }])
    return { found, steps: { suspense: restoreNoted(noted) } }
  }
  if (noted && stored === undefined)
    return {
      found: compare('suspense', id, 'present', 'missing'),
      steps: ensureSuspense(bornItem(noted)),
    }
  if (item?.clientId === clientId && register === undefined)
    return {
      found: compare('noted', id, 'present', 'missing'),
      steps: { noted: noteSuspense(item) },
    }
  return { found: [], steps: {} }
}

function bornItem(noted: Noted): Suspense {
  const isMoved = MOVED_CAUSES.some((cause) => cause === noted.cause)
  return isMoved
    ? { ...noted, status: 'resolved', resolution: 'explained' }
    : { ...noted, status: 'open' }
}
