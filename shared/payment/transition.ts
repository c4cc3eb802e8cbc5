import type { PaymentStatus } from '../payment-status.ts'
import type { Timestamp } from '../time.ts'
import type { Payment, Transition } from './payment.ts'

/** Who brought the news of a transition; shown in the operators' timeline. */
export type NewsSource = 'create' | 'callback' | 'due_work' | 'cancel' | 'operator' | 'sync'

/** Adds a transition to a payment's history and puts it in the new status. */
export const transitioned = (payment: Payment, status: PaymentStatus, at: Timestamp, source: NewsSource): Payment => {
  const transition: Transition = { status, at, source }
  return { ...payment, status, transitions: [...payment.transitions, transition] }
}
