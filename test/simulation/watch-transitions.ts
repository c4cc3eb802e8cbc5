import { text } from '../support/books.ts'
import type { Observations } from './observations.ts'
import type { World } from './world.ts'

const TERMINAL: Readonly<Record<string, readonly string[]>> = {
  PAYMENT: ['succeeded', 'failed', 'expired', 'cancelled'],
  SETTLEMENT: ['manual_paid', 'failed'],
}

/** Checked at every single write: nothing leaves a terminal status, and what was announced never changes. */
export const watchTransitions = (world: World, seen: Observations): void => {
  world.onChange.push(({ key, before, after }) => {
    if (before === undefined) return
    const name = `${key.pk} ${key.sk}`
    if (after === undefined) {
      if (/^(RATE|QUOTA|SYNC)#/.test(name) || key.sk.startsWith('UNTOLD#')) return
      seen.problems.push(`${name} was deleted`)
      return
    }
    if (TERMINAL[key.sk]?.includes(text(before, 'status')) === true && after['status'] !== before['status']) {
      seen.problems.push(`${name} went from ${text(before, 'status')} to ${text(after, 'status')}`)
    }
    if (before['body'] !== undefined && after['body'] !== before['body'])
      seen.problems.push(`${name} changed its bytes`)
    if (before['credited_payment_id'] !== undefined && after['credited_payment_id'] !== before['credited_payment_id']) {
      seen.problems.push(`${name} was credited twice`)
    }
    if (before['payment_destination'] !== undefined && after['payment_destination'] !== before['payment_destination']) {
      seen.problems.push(`${name} changed its destination`)
    }
  })
}
