import { paymentIdForKey } from '../../../../shared/ids.ts'
import { text } from '../../../support/recount/books.ts'
import type { InvokeOptions } from '../../world/lambda.ts'
import { bodyFor, sendCreate } from '../creates.ts'
import type { Play } from '../operations.ts'

/** Of the wallet that pushes to the customer's phone. */
const PUSH = { method: 'ewallet', channel_code: 'OVO' }

export type Asked = { readonly isPush?: boolean; readonly livesSeconds?: number | undefined }

/** One payment that a merchant wants, and how it asks for it. */
export const newCreate = (play: Play, { isPush = false, livesSeconds }: Asked = {}) => {
  const { world } = play
  const tenant = world.prng.pick(play.tenants)
  const key = `key-${play.keys++}`
  const paymentId = paymentIdForKey(tenant.clientId, key)
  const pk = `PAYMENT#${paymentId}`
  const drawn = JSON.parse(bodyFor(play, tenant)) as object
  const lives = livesSeconds === undefined ? {} : { expires_in_seconds: livesSeconds }
  const body = JSON.stringify({ ...drawn, ...(isPush && PUSH), ...lives })
  const row = () => world.table.item({ pk, sk: 'PAYMENT' }) ?? {}
  return {
    tenant,
    paymentId,
    pk,
    row,
    /** As it was asked for, or in other words. */
    send: (options: InvokeOptions = {}, words = body) => sendCreate(play, tenant, key, words, options),
    /** Another merchant's request meets the environments of this one's, and keeps them awake for a while. */
    sendAnother: async () => {
      const other = `key-${play.keys++}`
      const otherId = paymentIdForKey(tenant.clientId, other)
      world.slowCallsMs.set(otherId, 2 * world.prng.int(500, 2_500))
      await sendCreate(play, tenant, other, bodyFor(play, tenant))
      world.slowCallsMs.delete(otherId)
    },
    otherWords: () => bodyFor(play, tenant),
    leaseEndMs: () => Date.parse(text(row(), 'lease_until')) || world.scheduler.nowMs(),
    requests: () => world.provider.findPaymentRequests(paymentId),
    /** The provider takes so long for its creates; on its way, where it is even. */
    slow: (ms: number | undefined) =>
      ms === undefined ? world.slowCallsMs.delete(paymentId) : world.slowCallsMs.set(paymentId, ms),
  }
}

export type NewCreate = ReturnType<typeof newCreate>
