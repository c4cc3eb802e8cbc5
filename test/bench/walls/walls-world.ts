import { connectSources } from '../../simulation/triggers/sources.ts'
import { drive } from '../../simulation/world/drive.ts'
import { connectCallbacks, requestAs } from '../../simulation/world/lambda.ts'
import { addTenant } from '../../simulation/world/tenants.ts'
import { faultlessWorld } from '../metered-world.ts'

/** An unpaid virtual account is over so soon here: a day would be too many payments to make one by one. */
export const EXPIRES_IN_SECONDS = 600
const PROVIDER_MS = 200

const BODY = { method: 'virtual_account', channel_code: 'BCA', amount: 150_000, currency: 'IDR' }

/** The real handlers with everything that starts them, a provider that takes 200 ms a call, and no faults. */
export const startWallsWorld = async (callsPerMinute: number) => {
  const world = await faultlessWorld()
  Object.assign(world, { callsPerMinute, providerMs: PROVIDER_MS })
  connectSources(world)
  connectCallbacks(world)
  const merchant = await drive(world, addTenant(world, 0, 1))
  let keys = 0
  /** Makes a payment; undefined when it was refused. */
  const create = async (): Promise<string | undefined> => {
    const body = JSON.stringify({ ...BODY, expires_in_seconds: EXPIRES_IN_SECONDS })
    const asked = { headers: { 'idempotency-key': `walls-${++keys}` }, body }
    const reply = await requestAs(world, merchant, 'api-create-payment', asked)
    return reply?.status === 201 ? String(reply.body['id']) : undefined
  }
  const pay = (id: string): void => {
    const [request] = world.provider.findPaymentRequests(id)
    world.provider.simulatePayment(request?.payment_request_id ?? '')
  }
  const pass = (ms: number) => world.scheduler.runUntil(world.scheduler.nowMs() + ms)
  return { world, create, pay, pass }
}

export type WallsWorld = Awaited<ReturnType<typeof startWallsWorld>>

/** The statuses of all payments. */
export const statusesIn = ({ table }: WallsWorld['world']): readonly unknown[] =>
  table.items('PAYMENT#').flatMap(({ sk, status }) => (sk === 'PAYMENT' ? [status] : []))
