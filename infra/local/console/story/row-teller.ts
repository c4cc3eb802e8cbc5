import * as v from 'valibot'
import { EventSchema } from '../../../../shared/event/event.ts'
import { type StoredPayment, StoredPaymentSchema } from '../../../../shared/payment/payment.ts'
import { type Settlement, SettlementSchema } from '../../../../shared/settlement/settlement.ts'
import { type Suspense, SuspenseSchema } from '../../../../shared/suspense/suspense.ts'
import type { Item } from '../../../../shared/table/attributes.ts'
import { attemptSkPrefix, EVENT_SK_PREFIX, pkPrefix } from '../../../../shared/table/keys.ts'
import {
  type Delivery,
  type DeliveryAttempt,
  DeliveryAttemptSchema,
  DeliverySchema,
} from '../../../../shared/webhook/delivery/delivery.ts'
import { counted, rupiah, type StoryLine } from './story-line.ts'

type Told = Omit<StoryLine, 'subject'>

/** Facts remembered, to tell what is new in the next version of a row. */
const REMEMBERED = 20_000

/**
 * Tells what each version of a row in the table's stream says that the one before did not. The stream brings no former
 * versions, so the latest rows are remembered by what was told of them; of one that was forgotten, all is told again.
 */
export const rowTeller = () => {
  const told = new Set<string>()
  const deliveries = new Map<string, Delivery>()

  const firstTime = (fact: string): boolean => {
    if (told.has(fact)) return false
    told.add(fact)
    forgetOldest(told)
    return true
  }

  const attempt = (delivery: Delivery | undefined, made: DeliveryAttempt, deliveryId: string): StoryLine[] =>
    firstTime(`attempt ${deliveryId} ${made.number}`) ? [{ subject: 'webhook', ...ofAttempt(delivery, made) }] : []

  const ofDelivery = (row: Item): StoryLine[] => {
    const delivery = v.parse(DeliverySchema, row)
    deliveries.set(delivery.deliveryId, delivery)
    forgetOldest(deliveries)
    const { deliveryId, status, paymentId, url, attempts, success } = delivery
    const lines = success ? attempt(delivery, success, deliveryId) : []
    const isEnd = status === 'abandoned' || status === 'skipped'
    if (!isEnd || !firstTime(`delivery ${deliveryId} ${status} ${attempts}`)) return lines
    const text =
      status === 'abandoned'
        ? `${url} was given up after ${counted(attempts, 'attempt')}`
        : `${url} was skipped: it is switched off`
    return [...lines, { subject: 'webhook', at: delivery.createdAt, tone: 'bad', id: paymentId, text }]
  }

  const read = (pk: string, sk: string, row: Item): StoryLine[] => {
    if (sk.startsWith(attemptSkPrefix)) {
      const deliveryId = pk.slice(pkPrefix('DELIVERY').length)
      return attempt(deliveries.get(deliveryId), v.parse(DeliveryAttemptSchema, row), deliveryId)
    }
    if (pk.startsWith(pkPrefix('DELIVERY'))) return ofDelivery(row)
    if (pk.startsWith(pkPrefix('PAYMENT')) && sk.startsWith(EVENT_SK_PREFIX)) {
      const { paymentId: id, type, firedAt: at } = v.parse(EventSchema, row)
      return firstTime(`${pk} ${sk}`)
        ? [{ subject: 'event', at, tone: 'plain', id, text: `${type} is to be told` }]
        : []
    }
    if (pk.startsWith(pkPrefix('PAYMENT'))) {
      const payment = v.parse(StoredPaymentSchema, row)
      return factsOfPayment(payment).flatMap((fact) =>
        firstTime(`${pk} ${fact.text}`) ? [{ subject: 'payment', id: payment.paymentId, ...fact }] : [],
      )
    }
    if (pk.startsWith(pkPrefix('SETTLEMENT'))) {
      const settlement = v.parse(SettlementSchema, row)
      return firstTime(`${pk} ${settlement.status} ${settlement.recreditedAt ?? ''}`)
        ? [{ subject: 'settlement', id: settlement.settlementId, ...ofSettlement(settlement) }]
        : []
    }
    if (!pk.startsWith(pkPrefix('SUSPENSE'))) return []
    const suspense = v.parse(SuspenseSchema, row)
    return firstTime(`${pk} ${suspense.status}`) ? [{ subject: 'suspense', ...ofSuspense(suspense) }] : []
  }

  return {
    /** What is new in this version of a row; nothing for one of another form, as a later release may write. */
    tell: (row: Item): readonly StoryLine[] => {
      const { pk, sk } = row
      if (typeof pk !== 'string' || typeof sk !== 'string') return []
      try {
        return read(pk, sk, row)
      } catch (error) {
        if (v.isValiError(error)) return []
        throw error
      }
    },
  }
}

/** One goes for one that came. Sets and maps keep the order in which things came in. */
const forgetOldest = (kept: Set<string> | Map<string, unknown>): void => {
  const oldest = kept.size > REMEMBERED ? kept.keys().next() : undefined
  if (oldest?.value !== undefined) kept.delete(oldest.value)
}

const factsOfPayment = (payment: StoredPayment): readonly Told[] => {
  if (payment.status === 'creating') {
    const { failure, claimedAt: at } = payment
    return failure === undefined ? [] : [{ at, tone: 'bad', text: `could not be created: ${failure}` }]
  }
  const { method, channelCode, notionalMinor, paidAt, finalFee, reversal, cancelRequestedAt } = payment
  const facts = payment.transitions.map(({ status, at, source }): Told => {
    const heard = source.replaceAll('_', ' ')
    switch (status) {
      case 'pending':
        return { at, tone: 'plain', text: `created: ${rupiah(notionalMinor)} by ${channelCode ?? method}` }
      case 'succeeded':
        return { at: paidAt ?? at, tone: 'good', text: `paid: ${rupiah(notionalMinor)} (heard by ${heard})` }
      case 'failed':
      case 'expired':
      case 'cancelled':
        return { at, tone: 'bad', text: `${status} (heard by ${heard})` }
    }
  })
  if (cancelRequestedAt !== undefined) {
    facts.push({ at: cancelRequestedAt, tone: 'plain', text: 'its merchant asked to cancel it' })
  }
  if (finalFee) {
    const text = `fee is final: ${rupiah(finalFee.feeMinor)} (${finalFee.status}); net ${rupiah(payment.netMinor)}`
    facts.push({ at: finalFee.at, tone: 'good', text })
  }
  if (reversal) {
    facts.push({ at: reversal.at, tone: 'bad', text: `${rupiah(reversal.amountMinor)} went back: ${reversal.kind}` })
  }
  return facts
}

const ofAttempt = (delivery: Delivery | undefined, { at, number, error, httpStatus, durationMs }: DeliveryAttempt) => {
  const answer = httpStatus === undefined ? (error ?? 'no answer') : `answered ${httpStatus}`
  const text = `${delivery?.eventType ?? 'event'} to ${delivery?.url ?? 'its endpoint'}: ${answer} in ${durationMs} ms (attempt ${number})`
  return { at, tone: error === undefined ? ('good' as const) : ('bad' as const), id: delivery?.paymentId, text }
}

const ofSettlement = (settlement: Settlement): Told => {
  const { status, netMinor, paymentCount, createdAt, settledAt, recreditedAt } = settlement
  const net = rupiah(netMinor)
  if (recreditedAt !== undefined) return { at: recreditedAt, tone: 'plain', text: `${net} is available again` }
  switch (status) {
    case 'recorded':
      return {
        at: createdAt,
        tone: 'good',
        text: `recorded: ${net} of ${counted(paymentCount, 'payment')} is to be paid out`,
      }
    case 'manual_paid':
      return { at: settledAt ?? createdAt, tone: 'good', text: `${net} is paid out` }
    case 'failed':
      return { at: settledAt ?? createdAt, tone: 'bad', text: `the payout of ${net} failed` }
  }
}

const ofSuspense = ({ suspenseId, kind, cause, amountMinor, createdAt, status, paymentId }: Suspense): Told => {
  const amount = amountMinor === undefined ? '' : `, ${rupiah(amountMinor)}`
  const what = `${kind} ${cause.replaceAll('_', ' ')}${amount} (${suspenseId})`
  return status === 'open'
    ? { at: createdAt, tone: 'bad', id: paymentId, text: what }
    : { at: createdAt, tone: 'good', id: paymentId, text: `resolved: ${what}` }
}
