import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import type { Step } from '../../../shared/table/step.ts'
import { wholeRow } from '../../support/recount/books.ts'
import { count } from '../world/tally.ts'
import { type World } from '../world/world.ts'

/**
 * In how many seeds a situation must happen at least once. `.ci/run` runs 100 seeds, `.ci/nightly`
 * 1,000.
 */
export type Within = 25 | 250 | 1_000

export type Situations<Happened> = Readonly<
  Record<string, readonly [Within, (happened: Happened) => boolean]>
>

/** Situations that scenes and rules report. Those that a write shows are in `situations.ts`. */
export const REPORTED = {
  'a create is replayed after its payment has ended': 25, // The reply must show the final status
  'a merchant asks for another merchant’s deliveries': 25, // By its endpoint id. The reply is 404
  'a push is held back': 25, // The customer may still answer the previous push
  'an attempt is frozen during its work': 25, // Its caller gets an error; it continues later
  // Some of these writes are applied, and some are not
  'the table does not answer a write of a create': 25,
  'another caller changes the item that is being written': 25, // The writer’s read is out of date
  'a worker is frozen while it holds a claim': 25, // For a fast clock the claim expires early
  'the alert topic is down when a delivery is abandoned': 25, // Due work sends the alert later
  'an attempt goes through the slow lane': 25, // Its endpoint recently held a worker
  'an alert is repeated after a crash': 1_000, // Its worker died before it recorded the alert
  'a payout waits for its audit': 25, // The refusal says when to try again
  'a payout is stopped by money that no row proves': 250, // An operator must confirm the amount
  'a payout is stopped by new bank details': 250, // An operator must ask the merchant first
  'a payout is stopped by a debt of its client': 250,
  'a payout is stopped by open findings': 250,
  'a payout is stopped by a hold': 250,
  'payouts go out in a batch': 25,
  'a payout batch is cancelled': 250,
  'a bank reference is used a second time': 1_000,
  'an operator adjusts a ledger': 25,
  'a transfer is booked as a refund': 1_000,
  'a read-only key is refused': 250, // It tries to create a payment
  // Meanwhile its row is settled or reversed
  'a payment is made while the provider does not answer about it': 25,
  // It continues beside another run, often after its lease has expired
  'a sync is frozen during its work': 25,
  'a settlement run is frozen during its work': 250, // It continues with its old sum
  // They pay out, mark failed, re-credit and settle
  'several operators move the money of one client at once': 25,
} as const satisfies Readonly<Record<string, Within>>

export type Reported = keyof typeof REPORTED

export function reportSituation({ tally }: Pick<World, 'tally'>, name: Reported) {
  count(tally, `sometimes: ${name}`)
}

type Refused = { readonly step: Step; readonly was: StoredItem | undefined }

function setBy({ step }: Refused) {
  return step.kind === 'update' ? { ...step.changes.set, ...step.changes.setIfAbsent } : {}
}

function isCommit(refused: Refused) {
  return refused.step.key.sk === 'PAYMENT' && itemOf(refused)['status'] === 'pending'
}

function itemOf({ step }: Refused) {
  return step.kind === 'put' ? wholeRow(step.item) : {}
}

function attemptIn({ was = {} }: Refused) {
  return `,"value":${Number(wholeRow(was)['attempt'])}`
}

function compares({ step }: Refused, field: string, test: string, value = '') {
  const text = `"test":"${test}","field":"${field}"${value}`
  return JSON.stringify(step.condition ?? {}).includes(text)
}

export const REFUSALS: Situations<Refused> = {
  'a second caller meets a live lease': [
    25,
    (refused) =>
      itemOf(refused)['status'] === 'creating' &&
      refused.was?.['status'] === 'creating' &&
      refused.was['lease_until'] !== undefined,
  ],
  'a commit is refused': [250, isCommit],
  'an attempt continues after its lease has expired': [
    250,
    (refused) => isCommit(refused) && !compares(refused, 'attempt', 'equals', attemptIn(refused)),
  ],
  'a success is refused': [
    250,
    (refused) =>
      refused.step.key.sk === 'PAYMENT' &&
      refused.was?.['status'] === 'succeeded' &&
      (itemOf(refused)['status'] ?? setBy(refused)['status']) === 'succeeded',
  ],
  'a cancel is refused by an expiry that has begun': [
    250,
    (refused) =>
      setBy(refused)['cancelRequestedAt'] !== undefined && refused.was?.['status'] === 'pending',
  ],
  'a second claim is refused': [25, (refused) => setBy(refused)['claimToken'] !== undefined],
  'a result is refused after its claim has expired': [
    250,
    (refused) =>
      setBy(refused)['claimToken'] === undefined && compares(refused, 'claimToken', 'equals'),
  ],
  'a settlement record is refused by a concurrent one': [
    25,
    (refused) => setBy(refused)['settledUntil'] !== undefined,
  ],
  'the fence refuses an entry': [
    250,
    (refused) =>
      refused.step.key.sk.startsWith('SHARD#') && compares(refused, 'closedUntil', 'atMost'),
  ],
}
