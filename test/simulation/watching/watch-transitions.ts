import { type RawItem, text } from '../../support/recount/books.ts'
import { count } from '../world/tally.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { DAY_MS, ms } from './rules.ts'

const TERMINAL: Readonly<Record<string, readonly string[]>> = {
  PAYMENT: ['succeeded', 'failed', 'expired', 'cancelled'],
  SETTLEMENT: ['manual_paid', 'failed'],
}

/** Of machines whose clocks differ. */
const SKEW_MS = 60_000
const FORGOTTEN = /^(DELIVERY$|ATTEMPT#|EVENT#)/

/** What may be deleted, and since when it was there. An attempt counts from when it was made. */
const watchRetention = (world: World) => {
  const firstMs = new Map<string, number>()
  const sinceMs = (name: string, sk: string, before: RawItem): number =>
    sk.startsWith('ATTEMPT#') ? ms(before, 'at') : (firstMs.get(name) ?? 0)
  return {
    write: (name: string) => firstMs.set(name, firstMs.get(name) ?? world.scheduler.nowMs()),
    mayGo: (name: string, sk: string, before: RawItem): boolean =>
      (FORGOTTEN.test(sk) || before['status'] === 'creating') &&
      world.scheduler.nowMs() - sinceMs(name, sk, before) > 90 * DAY_MS - SKEW_MS,
  }
}

/** Checked at every single write: nothing leaves a terminal status, and what was announced never changes. */
export const watchTransitions = (world: World, seen: Observations): void => {
  const retention = watchRetention(world)
  world.onChange.push(({ key, before, after }) => {
    const name = `${key.pk} ${key.sk}`
    if (before === undefined) return void retention.write(name)
    if (after === undefined) {
      // Of an endpoint `watch-endpoint-rows.ts` says what its deletion leaves.
      if (/^(RATE|QUOTA|SYNC)#/.test(name) || key.sk.startsWith('ENDPOINT#')) return
      if (retention.mayGo(name, key.sk, before)) return count(world.tally, `forgotten: ${key.sk.split('#')[0]}`)
      seen.problems.push(`${name} was deleted`)
      return
    }
    if (TERMINAL[key.sk]?.includes(text(before, 'status')) === true && after['status'] !== before['status']) {
      seen.problems.push(`${name} went from ${text(before, 'status')} to ${text(after, 'status')}`)
    }
    if (before['body'] !== undefined && after['body'] !== before['body'])
      seen.problems.push(`${name} changed its bytes`)
    if (
      before['credited_provider_payment_id'] !== undefined &&
      after['credited_provider_payment_id'] !== before['credited_provider_payment_id']
    ) {
      seen.problems.push(`${name} was credited twice`)
    }
    if (before['payment_destination'] !== undefined && after['payment_destination'] !== before['payment_destination']) {
      seen.problems.push(`${name} changed its destination`)
    }
  })
}
