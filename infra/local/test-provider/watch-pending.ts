import * as v from 'valibot'
import type { Deps } from '../../../shared/deps.ts'
import { ClientIdSchema } from '../../../shared/ids.ts'
import { listPayments } from '../../../shared/payment/list-payments.ts'
import { markDueNow } from '../../../shared/payment/payment-store.ts'
import type { FunctionHost } from '../functions/function-host.ts'

const EVERY_MS = 10_000

/** Older payments keep their usual checks. */
const MAX_CLIENTS = 20
const MAX_PAYMENTS = 10

const Clients = v.object({
  status: v.literal(200),
  body: v.object({ data: v.array(v.object({ client_id: ClientIdSchema })) }),
})

type WatchOptions = {
  readonly host: Pick<FunctionHost, 'byName'>
  readonly reader: Pick<Deps, 'table' | 'log'>
  readonly writer: Pick<Deps, 'table' | 'now'>
}

/**
 * Makes payments due every ten seconds, because no callback reaches this machine. Due work then
 * asks the provider, within its budget of calls. A round begins after the last one has ended.
 */
export function watchPending(options: WatchOptions) {
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const next = () => {
    if (isClosed) return
    timer = setTimeout(() => void round().then(next), EVERY_MS)
    // Only the servers keep the process alive.
    timer.unref()
  }
  // The host logs a failed function, and the next round repeats it.
  const round = () => makePendingDue(options).catch(() => undefined)
  next()
  return {
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

export async function makePendingDue({ host, reader, writer }: WatchOptions) {
  const invoke = async (name: string, payload: object) =>
    host.byName(`gateway-local-${name}`)?.invoke(payload)
  const { body } = v.parse(Clients, await invoke('list-clients', { per_page: MAX_CLIENTS }))
  let found = 0
  for (const { client_id: clientId } of body.data) {
    const page = { page: 1, perPage: MAX_PAYMENTS }
    const { payments } = await listPayments(reader, { clientId, status: 'pending', page })
    for (const { paymentId } of payments) await markDueNow(writer, paymentId, writer.now())
    found += payments.length
  }
  if (found > 0) await invoke('check-due-work', {})
}
