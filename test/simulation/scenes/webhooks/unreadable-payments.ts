import type { StoredItem } from '../../../../infra/local/emulators/memory-table/stored-item.ts'
import { text } from '../../../support/recount/books.ts'
import type { Faults } from '../../world/faults.ts'
import { invoke } from '../../world/lambda.ts'
import { sqsEvent } from '../../world/sim-queue.ts'
import { count } from '../../world/tally.ts'
import type { Scene } from '../scene.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

/** When due work first reads it. */
const lookedAtMs = (row: StoredItem): number => Math.ceil(Date.parse(text(row, 'due_at')) / MINUTE_MS) * MINUTE_MS

/**
 * The partition of a payment is throttled when its event is sent: for some seconds, or until due work hands the delivery
 * out during the first attempt.
 */
export const unreadablePayments = ({ world }: Scene, faults: Faults): void => {
  const { oddities, scheduler, unreadUntilMs } = world
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'DELIVERY' || before !== undefined || after?.['payment_id'] === undefined) return
    if (after['due_at'] === undefined || world.faults !== faults || !oddities.chance(0.1)) return
    count(world.tally, 'bodies cannot be read')
    const pk = `PAYMENT#${text(after, 'payment_id')}`
    if (oddities.chance(0.5)) return void unreadUntilMs.set(pk, scheduler.nowMs() + oddities.int(100, 5_000))
    const againMs = lookedAtMs(after) - oddities.int(1, 6) * SECOND_MS
    unreadUntilMs.set(pk, againMs)
    const { delivery_id, client_id, endpoint_id } = after
    const body = JSON.stringify({ delivery_id, attempt: 1, client_id, endpoint_id })
    scheduler.at(againMs, () => void invoke(world, 'deliver-webhook', sqsEvent([{ messageId: 'late', body }])))
  })
}
