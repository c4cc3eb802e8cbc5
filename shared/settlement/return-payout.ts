import { refused } from '../errors.ts'
import { derivedUuid } from '../ids.ts'
import { type Entry, figuresOf, newEntry } from '../journal/entry.ts'
import { putEntry } from '../journal/entry-store.ts'
import { adjustmentLegs } from '../journal/legs.ts'
import { adjustCredit } from '../ledger/shard-store.ts'
import { ZERO } from '../money.ts'
import type { Timestamp } from '../time.ts'
import { tryToMake } from '../verdict/difference.ts'
import type { CloseDeps, TransferInput } from './close-settlement.ts'
import { giveBack, recreditEntry } from './recredit-settlement.ts'
import type { Settlement } from './settlement.ts'
import { markReturned } from './settlement-store.ts'

/**
 * Books a transfer that came back after its settlement was marked paid (design section 12), once:
 * settlement, shard, entry and audit record in one transaction. The settlement stays paid; the next
 * settlement has its net as one line. It uses up its approval. Throws 404, and 422 without the
 * approval, or unless the settlement is paid, has the sums of its entries and is not returned yet.
 * Throws 409 as `giveBack` does.
 */
export function returnPayout(deps: CloseDeps, input: TransferInput) {
  const figures = { bank_reference: input.bankReference, value_date: input.valueDate ?? null }
  const shown = { ...figures, notes: input.notes ?? null }
  const how = { action: 'return-payout', figures, assertState: assertReturnable } as const
  return giveBack(deps, input, how, (settlement, returnedAt) => {
    const { clientId, netMinor } = settlement
    const entry = returnedEntry(settlement, returnedAt)
    return {
      answer: { ...toReturnedDto(settlement, entry), ...shown },
      after: { returned_at: returnedAt, ...shown },
      steps: {
        settlement: markReturned(settlement, returnedAt),
        ledger: adjustCredit(clientId, netMinor, returnedAt),
        entry: putEntry(clientId, entry),
      },
    }
  })
}

function assertReturnable({ status, returnedAt }: Settlement) {
  if (status !== 'manual_paid') {
    throw refused(
      `settlement cannot be returned in status=${status}`,
      'Only a transfer that was marked paid can come back. If the bank rejected it, run ' +
        'mark-settlement-failed.',
    )
  }
  if (returnedAt !== undefined)
    throw refused('this payout was returned already', `It was booked at ${returnedAt}.`)
}

/** The bank and the client have the settlement's net again, eligible at once. */
export function returnedEntry(
  { settlementId, netMinor }: Pick<Settlement, 'settlementId' | 'netMinor'>,
  postedAt: Timestamp,
): Entry {
  return newEntry({
    entryId: derivedUuid('returned', settlementId),
    type: 'returned',
    eligibleAt: postedAt,
    postedAt,
    ...figuresOf(netMinor, ZERO, ZERO),
    ...adjustmentLegs('returned', netMinor),
    returnedSettlementId: settlementId,
  })
}

/** The entry of a settlement's re-credit or return. Undefined if its figures do not add up. */
export function entryAgainOf(settlement: Settlement): Entry | undefined {
  const { recreditedAt, returnedAt } = settlement
  return tryToMake(() =>
    recreditedAt === undefined
      ? returnedAt && returnedEntry(settlement, returnedAt)
      : recreditEntry(settlement, recreditedAt),
  )
}

function toReturnedDto({ settlementId, clientId }: Settlement, entry: Entry) {
  return {
    id: entry.entryId,
    client_id: clientId,
    type: entry.type,
    returned_settlement_id: settlementId,
    posted_at: entry.postedAt,
    client_net_minor: entry.netMinor,
    bank_minor: entry.bankMinor,
  }
}
