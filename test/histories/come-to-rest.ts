import type { KnownPayments } from './callers.ts'
import type { GatewayCalls } from './gateway-calls.ts'
import type { HistoryRecorder } from './history-record.ts'
import type { Client } from './plan-payments.ts'

/** Past every lease and claim. */
const LEASES_SECONDS = 40
const ROUNDS = 30
const ENDED_UPSTREAM = ['SUCCEEDED', 'FAILED', 'CANCELED', 'EXPIRED']

/**
 * The faults end, and the gateway finishes what it has begun: until no payment is pending whose customer or provider is
 * done with it, or for so many rounds. Then everybody looks once more; what is still on its way then was lost.
 */
export const comeToRest = async (
  calls: GatewayCalls,
  clients: readonly Client[],
  known: KnownPayments,
  { rests }: Pick<HistoryRecorder, 'rests'>,
): Promise<void> => {
  await calls.send('provider', '/_simulator/faults', { method: 'DELETE' })
  const made = clients.flatMap((client) =>
    client.planned.flatMap((planned) => {
      const shown = known.of(client, planned)
      return shown === undefined ? [] : [{ client, key: planned.key, payment: shown.id }]
    }),
  )
  for (let round = 0; round < ROUNDS; round++) {
    await calls.advance(LEASES_SECONDS)
    await calls.invoke('check-due-work')
    await calls.invoke('sync-provider-transactions')
    const ended = (await calls.upstream()).filter(({ status }) => ENDED_UPSTREAM.includes(String(status)))
    const isEnded = (payment: string) => ended.some((request) => String(request['reference_id']).startsWith(payment))
    let underWay = 0
    for (const { client, payment } of made.filter((one) => isEnded(one.payment))) {
      const outcome = await calls.get(client, payment)
      if (outcome !== undefined && 'seen' in outcome && outcome.seen?.status === 'pending') underWay++
    }
    if (underWay === 0) break
  }
  rests()
  for (const { client, key, payment } of made) {
    await calls.get(client, payment)
    await calls.find(client, key)
  }
  for (const client of clients) await calls.balance(client)
}
