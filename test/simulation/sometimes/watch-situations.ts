import type { Condition } from '../../../shared/table/step.ts'
import { amount, clientOf, type RawItem, text } from '../../support/recount/books.ts'
import { sweptBy } from '../../support/recount/journal-books.ts'
import type { Process } from '../world/process.ts'
import { deliveryStatus, entriesOf } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import { meet, meetEach, watchReversals } from './situations.ts'
import { watchCreates, watchNews } from './watch-payments.ts'

/** Counts the situations of `situations.ts` as they come about. */
export const watchSituations = (world: World): void => {
  for (const watch of [watchCreates, watchNews, watchDeliveries, watchSettlements, watchReversals]) watch(world)
}

/** Whether a condition, or a part of it, compares this field with a value. */
const asksFor = (condition: Condition | undefined, field: string): boolean => {
  if (condition === undefined) return false
  if ('of' in condition) return condition.of.some((one) => asksFor(one, field))
  return condition.test === 'equals' && condition.field === field
}

/** From an event to its last attempt. */
const watchDeliveries = (world: World): void => {
  /** Deliveries with a sent message. */
  const sent = new Set<string>()

  world.onSent.push((_, { body }) => sent.add(`DELIVERY#${String(Reflect.get(body, 'delivery_id'))}`))

  world.onChange.push(({ key, before, after }) => {
    if (after === undefined) return
    if (before === undefined && key.sk.startsWith('ATTEMPT#') && after['error'] === 'unknown')
      meet(world, 'an attempt whose worker died is recorded')
    if (key.sk !== 'DELIVERY' || before === undefined) return
    const [was, is, by] = [deliveryStatus(before), deliveryStatus(after), world.acting?.name]
    const isRound = was !== 'scheduled' && is === 'scheduled'
    const isResent = by === 'check-due-deliveries' && amount(after, 'resends') > amount(before, 'resends')
    meetEach(world, {
      'a delivery succeeds': was === 'scheduled' && is === 'succeeded',
      'the eighth attempt fails': was === 'scheduled' && is === 'abandoned',
      'a delivery begins another round': isRound,
      'an operator redelivers': isRound && by === 'redeliver',
      'a lost message is sent again': isResent && sent.has(key.pk),
      'a message that was never sent is sent by due work': isResent && !sent.has(key.pk),
    })
  })

  world.onRefused.push((step) => {
    if (step.key.sk !== 'DELIVERY' || step.kind !== 'update') return
    if (step.changes.set?.['claimToken'] !== undefined) meet(world, 'a second claim is refused')
    else if (asksFor(step.condition, 'claimToken')) meet(world, 'a result is refused after its claim has expired')
  })
}

/** Posting, windows and payouts. */
const watchSettlements = (world: World): void => {
  /** By client: the process that last kept a sum of its window. */
  const keptBy = new Map<string, Process>()
  const paid = new Set<string>()

  const onSettlement = (before: RawItem | undefined, after: RawItem) => {
    if (before === undefined) {
      meet(
        world,
        after['triggered_by'] === 'manual'
          ? 'an operator’s trigger records a settlement'
          : 'the sweep records a settlement',
      )
      const clientId = text(after, 'client_id')
      const keeper = keptBy.get(clientId)
      if (keeper && keeper !== world.acting) meet(world, 'a window is summed over several runs')
      keptBy.delete(clientId)
      const types = new Set(sweptBy(after, entriesOf(world, clientId)).map(({ type }) => type))
      return meetEach(world, {
        'a re-credit is settled again': types.has('recredit'),
        'a reversal is settled beside payments': ['refund', 'chargeback', 'reversal'].some((type) => types.has(type)),
      })
    }
    const wasRecorded = before['status'] === 'recorded'
    meetEach(world, {
      'a settlement is paid out': wasRecorded && after['status'] === 'manual_paid',
      'a settlement fails': wasRecorded && after['status'] === 'failed',
      'a settlement is re-credited': before['recredited_at'] === undefined && after['recredited_at'] !== undefined,
    })
  }

  const onPayment = (before: RawItem, after: RawItem) => {
    if (after['status'] !== 'succeeded') return
    const isPosted = before['open_at'] !== undefined && after['open_at'] === undefined
    const isVoid = after['voided_open'] === true
    const isAssumed = after['fee_status'] === 'assumed'
    const hasMoved = ((after['movements'] ?? []) as readonly unknown[]).length > 0
    const isLate = Date.parse(text(after, 'posted_at')) > Date.parse(text(after, 'paid_at')) + 86_400_000
    const isSameFee = amount(after, 'provider_fee_minor') === amount(before, 'provider_fee_minor')
    meetEach(world, {
      'a payment is void before it is posted': isPosted && isVoid,
      'a fee is assumed after seven days': isPosted && !isVoid && isAssumed,
      'a payment is posted by its settled row': isPosted && !isVoid && !isAssumed,
      'a fee differs from its estimate': isPosted && !isSameFee,
      'a payment is posted after a reversal': isPosted && hasMoved,
      'a payment is posted more than a day after it was paid': isPosted && isLate,
      'the row of an assumed payment comes late':
        before['late_row_at'] === undefined && after['late_row_at'] !== undefined,
    })
  }

  world.onChange.push(({ key: { pk, sk }, before, after }) => {
    if (after === undefined) return
    if (sk === 'SETTLEMENT') onSettlement(before, after)
    if (sk === 'PAYMENT') {
      onPayment(before ?? {}, after)
      paid.add(text(after, 'client_id'))
      if (before === undefined && after['part'] !== undefined) meet(world, 'a payment is in a later part of its client')
    }
    if (sk === 'WINDOW' && world.acting && before?.['progress_number'] !== after['progress_number'])
      keptBy.set(clientOf({ pk }), world.acting)
    const isGrown = sk === 'CLIENT' && before && after['ledger_parts'] !== before['ledger_parts']
    if (isGrown && paid.has(text(after, 'client_id'))) meet(world, 'a client grows while it has payments')
    if (pk.startsWith('JOURNAL#') && before === undefined && after['type'] === 'written_off' && after['payment_id'])
      meet(world, 'a won dispute pays back a write-off')
  })

  world.onRefused.push((step, was) => {
    if (was === undefined) return
    const condition = JSON.stringify(step.condition ?? {})
    const isFence = condition.includes('"field":"closedUntil"') && condition.includes('"test":"atMost"')
    if (isFence && step.key.sk.startsWith('SHARD#')) meet(world, 'the fence refuses an entry')
    if (step.key.sk !== 'WINDOW' || step.kind !== 'update') return
    if (step.changes.set?.['settledUntil'] !== undefined)
      meet(world, 'a settlement record is refused by a concurrent one')
  })
}
