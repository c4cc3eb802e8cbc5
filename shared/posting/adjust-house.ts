import type { TableDeps } from '../deps.ts'
import { conflict, refused } from '../errors.ts'
import { type HouseEntry, newHouseEntry, onOpenDay, putHouseEntry } from '../journal/house-store.ts'
import { type Approvable, requireApproval, type UsedApproval } from '../operator/approval-store.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import { attributeName } from '../table/attributes.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import {
  ADJUSTED_LEGS,
  findHouseAdjustment,
  type HouseAdjustment,
  putHouseAdjustment,
} from './house-adjustment-store.ts'

/** The subject of the records of all adjustments of the house. */
export const HOUSE_SUBJECT = 'house'

type HouseAdjustmentInput = Omit<HouseAdjustment, 'postedAt'> & { readonly operator: string }

/**
 * Books an invoice, a bank charge or what else the house must account for (design section 12), once
 * for each reference; a repeat answers what is stored. What lowers our bank account uses up an
 * approval. Throws 422 without it and for unequal sides, and 409 for a used reference.
 */
export async function adjustHouse(deps: RecordDeps, input: HouseAdjustmentInput) {
  assertEqual(input)
  const earlier = await findEarlier(deps, input)
  if (earlier) return earlier
  let approval: UsedApproval | undefined
  try {
    if (input.bankMinor < 0) approval = await requireApproval(deps, askedFor(input))
  } catch (cause) {
    // Another call of this adjustment may have used the approval.
    const concurrent = await findEarlier(deps, input)
    if (concurrent) return concurrent
    throw cause
  }
  const { operator, ...figures } = input
  const outcome = await onOpenDay(deps, async (postedAt) => {
    const adjustment: HouseAdjustment = { ...figures, postedAt }
    const shown = toHouseAdjustmentDto(adjustment)
    const after = { ...shown, ...(approval && { approved: approval.shown }) }
    const record = {
      subject: HOUSE_SUBJECT,
      clientId: GATEWAY_OWNER,
      operator,
      action: 'adjust-house',
      after,
    }
    const steps = {
      adjustment: putHouseAdjustment(adjustment),
      approval: approval?.step,
      ...putHouseEntry(houseAdjustmentEntry(adjustment)),
    }
    return { shown, ...(await recordChange<string>(deps, record, steps)) }
  })
  if (outcome.applied) return outcome.shown
  const concurrent = await findEarlier(deps, input)
  if (concurrent) return concurrent
  throw conflict('another adjustment is in progress; try again')
}

function assertEqual({ bankMinor, transitMinor, costMinor, otherMinor }: HouseAdjustmentInput) {
  const [left, right] = [bankMinor + transitMinor, costMinor + otherMinor]
  const isEmpty = [bankMinor, transitMinor, costMinor, otherMinor].every((leg) => leg === 0)
  if (left === right && !isEmpty) return
  throw refused(
    isEmpty
      ? 'all amounts are 0'
      : `the sides are not equal: bank and transit are ${left}, cost and other are ${right}`,
    'A bank charge of 6,500 is --bank_minor -6500 --cost_minor -6500.',
  )
}

/** Undefined when the reference is free. Throws 409 if the earlier figures differ. */
async function findEarlier(deps: TableDeps, input: HouseAdjustmentInput) {
  const earlier = await findHouseAdjustment(deps, input.reference)
  if (earlier === undefined) return undefined
  if (ADJUSTED_LEGS.every((leg) => earlier[leg] === input[leg]))
    return toHouseAdjustmentDto(earlier)
  throw conflict(
    `reference ${input.reference} belongs to an adjustment with other figures`,
    'Use another reference. list-audit --subject house shows the adjustments.',
  )
}

/** Amounts of zero are left out, as an operator leaves them out. */
function askedFor(input: HouseAdjustmentInput): Approvable {
  const amounts = ADJUSTED_LEGS.map((leg) => [attributeName(leg), input[leg] || null] as const)
  return {
    action: 'adjust-house',
    payload: { ...Object.fromEntries(amounts), reference: input.reference },
  }
}

/** It has no row of the provider: its key has the day of its posting. */
export function houseAdjustmentEntry({
  reference,
  postedAt,
  bankMinor,
  transitMinor,
  costMinor,
  otherMinor,
}: HouseAdjustment): HouseEntry {
  const legs = { bankMinor, transitMinor, costMinor, otherMinor }
  const about = { type: 'adjustment', transactionId: reference, rowAt: postedAt, postedAt } as const
  return newHouseEntry({ ...about, ...legs })
}

function toHouseAdjustmentDto(adjustment: HouseAdjustment) {
  return {
    reference: adjustment.reference,
    type: 'adjustment',
    posted_at: adjustment.postedAt,
    bank_minor: adjustment.bankMinor,
    transit_minor: adjustment.transitMinor,
    cost_minor: adjustment.costMinor,
    other_minor: adjustment.otherMinor,
    notes: adjustment.notes ?? null,
  }
}
