import { type RawItem, text } from '../../support/books.ts'
import type { World } from '../world/world.ts'
import { type Handover, handOver, meetOther } from './meetings.ts'

type Change = {
  readonly pk: string
  readonly sk: string
  readonly before: RawItem | undefined
  readonly after: RawItem
}

const UNPAID = ['failed', 'expired', 'cancelled']

/** Whether the release before did something, by what it did and to which item. */
type Done = Map<string, boolean>

/** Counts what one release has begun and the other one goes on with, at the write that does so. */
export const watchHandovers = (world: World): void => {
  const done: Done = new Map()

  /** What is done now, by whom; and what that goes on with, if the other release did that. */
  const note = (what: string, item: string, isFormer: boolean) => done.set(`${what} ${item}`, isFormer)
  const goesOn = (what: string, item: string, isFormer: boolean, handover: Handover) => {
    const was = done.get(`${what} ${item}`)
    if (was !== undefined && was !== isFormer) handOver(world, handover, isFormer)
  }

  const onCreating = ({ pk, before, after }: Change, isFormer: boolean) => {
    if (before?.['attempt'] === after['attempt']) return
    if (before !== undefined) goesOn('attempt', pk, isFormer, 'a create of the other is taken over')
    note('attempt', pk, isFormer)
  }

  const onPayment = (change: Change, isFormer: boolean) => {
    const { pk, before, after } = change
    const [was, is] = [text(before ?? {}, 'status'), text(after, 'status')]
    if (is === 'creating') return onCreating(change, isFormer)
    if (was === 'creating') {
      goesOn('attempt', pk, isFormer, 'a create of the other is committed')
      note('shown', pk, isFormer)
    }
    if (was === 'pending' && UNPAID.includes(is)) goesOn('shown', pk, isFormer, 'a payment of the other ends unpaid')
    if (was === 'pending' && is === 'succeeded') goesOn('shown', pk, isFormer, 'a payment of the other succeeds')
    if (was !== 'succeeded' && is === 'succeeded') note('credited', pk, isFormer)
    if (was !== 'succeeded') return
    if (before?.['fee_status'] === 'estimated' && after['fee_status'] !== 'estimated')
      goesOn('credited', pk, isFormer, 'a fee of the other becomes final')
    if (before?.['reversal'] === undefined && after['reversal'] !== undefined && done.get(`credited ${pk}`) === true)
      meetOther(world, 'what the release before credited goes back')
  }

  const onDelivery = ({ pk, before, after }: Change, isFormer: boolean) => {
    if (before === undefined)
      return goesOn('event', text(after, 'event_id'), isFormer, 'an event of the other is fanned out')
    const claim = before['claim_token']
    const isRecorded = before['attempts'] !== after['attempts']
    if (isRecorded) {
      if (before['attempts'] !== after['round_start'] && before['round_start'] === after['round_start'])
        goesOn('recorded', pk, isFormer, 'a round of the other is gone on with')
      if (claim !== undefined) goesOn('claimed', pk, isFormer, 'a claim of the other is finished')
      note('recorded', pk, isFormer)
    }
    if (after['claim_token'] !== undefined && after['claim_token'] !== claim) note('claimed', pk, isFormer)
    if (before['status'] !== 'abandoned' && after['status'] === 'abandoned') note('abandoned', pk, isFormer)
    const isTold = after['status'] === 'abandoned' && before['status'] === 'abandoned'
    if (isTold && before['due_at'] !== undefined && after['due_at'] === undefined)
      goesOn('abandoned', pk, isFormer, 'an abandonment of the other is told')
  }

  const onSettlement = ({ pk, before, after }: Change, isFormer: boolean) => {
    if (before === undefined) {
      note('settlement', pk, isFormer)
      const own = world.table.items('PAYMENT#').filter((item) => {
        const paidAt = text(item, 'paid_at')
        const isMeant = paidAt >= text(after, 'period_start') && paidAt < text(after, 'period_end')
        return isMeant && item['client_id'] === after['client_id'] && after['replaces'] === undefined
      })
      for (const item of own) goesOn('credited', text(item, 'pk'), isFormer, 'a payment of the other is settled')
      return
    }
    const [was, is] = [before['status'], after['status']]
    if (was !== is && is === 'manual_paid') goesOn('settlement', pk, isFormer, 'a settlement of the other is paid out')
    if (was !== is && is === 'failed') goesOn('settlement', pk, isFormer, 'a settlement of the other fails')
    if (before['recredited_at'] === undefined && after['recredited_at'] !== undefined)
      goesOn('settlement', pk, isFormer, 'a settlement of the other is re-credited')
  }

  world.onChange.push(({ key: { pk, sk }, before, after }) => {
    if (world.acting === undefined || after === undefined) return
    const { isFormer } = world.acting
    const change = { pk, sk, before, after }
    if (sk === 'PAYMENT') onPayment(change, isFormer)
    if (sk.startsWith('EVENT#') && before === undefined) note('event', text(after, 'event_id'), isFormer)
    if (sk === 'DELIVERY') onDelivery(change, isFormer)
    if (sk === 'SETTLEMENT') onSettlement(change, isFormer)
  })
}
