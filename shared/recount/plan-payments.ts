import { asEstimated, asMovedBy, eventNamesOf, heldBy } from '../audit/judged/audit-events.ts'
import { judgePayments } from '../audit/judged/judge-payments.ts'
import { rowDifferences } from '../audit/rows/row-differences.ts'
import { GatewayError } from '../errors.ts'
import { type Event, reversedEventName } from '../event/event.ts'
import { requireEvent } from '../event/event-store.ts'
import { listEventsOf } from '../event/read-events.ts'
import { type PaymentId, PaymentIdSchema, subjectOfPayment } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import type { Entry } from '../journal/entry.ts'
import { putEntry } from '../journal/entry-store.ts'
import {
  announcementOf,
  announcementOfHeld,
  announcementOfMovement,
} from '../payment/announcement.ts'
import { paymentRow, putPointers } from '../payment/creating-store.ts'
import type { Payment } from '../payment/payment.ts'
import { ifStored, isForeign } from '../payment/payment-store.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { requireSameMoney } from '../posting/posting-store.ts'
import { ensureSuspense } from '../suspense/suspense-store.ts'
import { paymentKey } from '../table/keys.ts'
import { replaceRow } from '../table/replace-row.ts'
import type { Steps } from '../table/table.ts'
import type { Difference } from '../verdict/difference.ts'
import { isProven } from './ask-provider.ts'
import { elsewhere } from './find-differences.ts'
import { type Findings, type Plan, type RecountDeps, type Write, writesOf } from './plan.ts'
import { announceAgain, isMissing, lostDelivery } from './plan-events.ts'
import { shiftFigures } from './plan-figures.ts'
import { isOfShown, withShown } from './plan-shown.ts'
import { raisePayment } from './raise-payment.ts'

/**
 * Plans each payment that a difference names: brought up to its event and entries, and its lost
 * entries, events, deliveries and pointers put anew. A payment is left if the provider does not
 * answer, or the run has no time for it.
 */
export async function planPayments(deps: RecountDeps, findings: Findings): Promise<Plan> {
  const byPayment = Map.groupBy(findings.differences, paymentNamedBy)
  const plans: Plan[] = []
  for (const [id, differences] of byPayment) {
    if (id === undefined) continue
    const left = (why: string) => [{ id, why, ends: differences }]
    const planned = plans.filter((plan) => writesOf(plan).length > 0)
    if (findings.isOver() || planned.length === MAX_PAYMENTS) {
      plans.push(left('this plan has no room for it; write it, then run recount-ledger again'))
      continue
    }
    try {
      plans.push(await planPayment(deps, findings, id, differences))
    } catch (error) {
      // Only the provider's failures are gateway errors here.
      if (!(error instanceof GatewayError)) throw error
      plans.push(left(error.message))
    }
  }
  return plans.flat()
}

/** The call that writes the plan asks the provider again, within the same minute's quota. */
const MAX_PAYMENTS = 50

const OF_PAYMENT = /^(payment|event|pointer)(\.|$)/
const PAYMENT_NAMED = /\bpayment ([0-9a-f-]{36})$/

/** By the difference's id, or by the id in its expected value. */
function paymentNamedBy({ what, id, expected }: Difference) {
  const named = OF_PAYMENT.test(what) ? id : PAYMENT_NAMED.exec(String(expected))?.[1]
  return ifValid(PaymentIdSchema, named)
}

async function planPayment(
  deps: RecountDeps,
  findings: Findings,
  id: PaymentId,
  differences: readonly Difference[],
) {
  const { books, strayEntries } = findings
  const key = paymentKey(id)
  const item = await deps.table.get(key)
  const stored = item && ifStored(item)
  if (item === undefined || stored?.clientId !== books.clientId || isForeign(stored)) return []
  const events = (await listEventsOf(deps, subjectOfPayment(id))).flatMap((event) => event ?? [])
  const entries = strayEntries.filter(({ paymentId }) => paymentId === id)
  const raised = await raisePayment(deps, books, stored, { events, entries })
  const source = raised?.payment ?? stored
  if (source.status === 'creating') return []
  const isRaised = source !== stored
  const isShownAnew = isRaised || differences.some(isOfShown)
  const payment = isShownAnew ? await withShown(deps, source, differences) : source
  const row = paymentRow(payment)
  const { differences: remaining } = await judgePayments(deps, books.clientId, [
    { key, item: isShownAnew ? { ...key, ...row } : item },
  ])
  const missing = remaining.filter(isMissing)
  // What the payment shows of suspense is as the plan of suspense leaves it.
  // The payment's row, and all that it has, must be as it is derived.
  const others = remaining.filter((one) => !isMissing(one) && !isOfShown(one))
  if (isRaised ? others.length > 0 : others.some(({ what }) => what.startsWith('payment')))
    return []
  const lostIds = missing.flatMap((one) => (one.what === 'entry' ? one.id : []))
  const left = await elsewhere(deps, findings, id, payment, lostIds)
  if (left.length > 0) return left
  const isOfMoney = missing.some(({ what }) => what === 'entry' || what === 'event')
  if (isOfMoney && !(await isProven(deps, payment, missing)))
    return [{ id, why: UNPROVEN, ends: [] }]
  const puts = await putsOf(deps, payment, missing, events)
  const lines = isShownAnew ? rowDifferences('payment', id, row, item) : []
  if (lines.length + puts.length === 0) return [{ ends: differences.filter(isOfShown) }]
  const isUnexplained = isStrayAfter(payment, isRaised)
  const ends = differences.filter(
    (difference) =>
      !isUnexplained(difference) && !others.some(({ what }) => what === difference.what),
  )
  return groupsOf(puts).map((some, at): Write => {
    const isFirst = at === 0
    const before = isFirst ? stored : payment
    // The audit counts an open payment whose entry is there by its entry.
    const isInJournal = isFirst && entries.some(({ type }) => type === 'payment')
    const lostEntries = some.flatMap(({ entry }) => entry ?? [])
    const shift = { before, after: payment, entries: lostEntries, isInJournal }
    const held = isFirst && raised ? raised.findings.map(ensureSuspense) : []
    const shown =
      isFirst && isRaised ? events.map((event) => [event.name, requireEvent(event)]) : []
    return {
      subject: id,
      clientId: books.clientId,
      repair: isRaised && isFirst ? 'up' : 'put',
      lines: [...(isFirst ? lines : []), ...some.flatMap((one) => one.lines)],
      ends: isFirst ? ends : [],
      entries: shift.entries,
      steps: Object.assign(
        {
          payment: isShownAnew && isFirst ? replaceRow(key, row, item) : requireSameMoney(payment),
          ...shiftFigures(deps, books, shift),
        },
        Object.fromEntries(shown),
        ...some.map((one) => one.steps),
        ...held,
      ),
    }
  })
}

const UNPROVEN =
  'the provider does not show the loss as the payment does; ask the provider which is right. ' +
  'Then finance books it with adjust-ledger, or accepts it with accept-difference'

/** A transaction has at most a hundred items: also payment, ledger, record, and findings. */
const MAX_ITEMS = 60

function groupsOf(puts: readonly Put[]) {
  const groups: Put[][] = [[]]
  let items = 0
  for (const put of puts) {
    const count = Object.keys(put.steps).length
    items += count
    if (items <= MAX_ITEMS) groups.at(-1)?.push(put)
    else {
      groups.push([put])
      items = count
    }
  }
  return groups
}

/** A stray event or entry that the payment does not show after the plan either. */
function isStrayAfter(payment: Payment, isRaised: boolean) {
  const names = eventNamesOf(payment)
  const ids = new Set<string>(isRaised ? entriesOf(payment).map(({ entryId }) => entryId) : [])
  return ({ what, id, found }: Difference): boolean =>
    (what === 'event' && found !== null && !names.includes(String(found))) ||
    (what.startsWith('entry') && found !== 'missing' && !ids.has(id))
}

/** Items of one event, or an entry, that are put together. */
type Put = {
  readonly lines: readonly Difference[]
  readonly steps: Steps<string>
  readonly entry?: Entry | undefined
}

/** What the payment derives and the table lacks. A stored item is not changed. */
async function putsOf(
  deps: RecountDeps,
  payment: Payment,
  missing: readonly Difference[],
  events: readonly Event[],
) {
  const entries = entriesOf(payment)
  const puts: Put[] = []
  for (const line of missing) {
    const { what, id, expected } = line
    const add = (steps: Steps<string>, entry?: Entry) =>
      void puts.push({ lines: [line], steps, entry })
    if (what === 'entry') {
      const entry = entries.find(({ entryId }) => entryId === id)
      if (entry) add({ [id]: putEntry(payment.clientId, entry) }, entry)
    } else if (what === 'pointer') {
      const steps = putPointers(payment).map((step, at) => [`pointer ${at}`, step] as const)
      add(Object.fromEntries(steps))
    } else if (what === 'event') {
      const name = String(expected)
      add(await announceAgain(deps, name, await announcement(deps, payment, name)))
    } else {
      const delivery = await lostDelivery(deps, id, events)
      if (delivery) add({ [id]: delivery })
    }
  }
  return puts
}

function announcement(deps: RecountDeps, payment: Payment, name: string) {
  const heldMoney = heldBy(payment, name)
  if (heldMoney) return announcementOfHeld(deps, payment, heldMoney, deps.now())
  const movement = payment.movements.find((candidate) => reversedEventName(candidate) === name)
  if (movement === undefined) return announcementOf(deps, asAnnounced(payment))
  // Movements of an open payment are announced with the estimated fee.
  const isEstimated = movement.postedAt === undefined || movement.postedAt === payment.postedAt
  const moved = asMovedBy(isEstimated ? asAnnounced(payment) : payment, movement)
  return announcementOfMovement(deps, moved)
}

/** With its estimated fee, unless the fee was final at success. */
function asAnnounced(payment: Payment) {
  return payment.finalFee?.invoiced === true && payment.finalFee.at === payment.paidAt
    ? payment
    : asEstimated(payment)
}
