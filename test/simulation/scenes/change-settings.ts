import { reportSituation } from '../sometimes/report-situation.ts'
import { type HttpReply, operate, requestAs } from '../world/lambda.ts'
import type { Impairment } from '../world/merchants.ts'
import { count } from '../world/tally.ts'
import { addEndpoint, liveEndpoints, type SimEndpoint, type Tenant } from '../world/tenants.ts'
import { hasFault, type World, waitFor } from '../world/world.ts'
import type { Scene } from './http.ts'

/** A revocation acts within fifteen seconds, by clocks that differ by twenty at most. */
const ACTS_MS = 40_000

export async function changeKeys(play: Scene) {
  const { world, tenants } = play
  if (!hasFault(world, 'clientChanges')) return
  await world.prng.pick([rotate, rotate, restrict, changeClient])(play, world.prng.pick(tenants))
}

async function rotate({ world }: Scene, tenant: Tenant) {
  const made = await issue(world, tenant, 'full')
  if (!made) return
  const { apiKey: old, keyId } = tenant
  Object.assign(tenant, made)
  tenant.formerKeys.push(old)
  const revoked = await operate(world, 'revoke-api-key', {
    client_id: tenant.clientId,
    key_id: keyId,
  })
  if (revoked?.status !== 200) return
  count(world.tally, 'key revoked')
  await waitFor(world, ACTS_MS)
  if (isTaken(await requestAs(world, { apiKey: old }, 'api-get-balance')))
    world.problems.push(`a key of ${tenant.clientId} is taken after it was revoked`)
}

async function issue(world: World, { clientId }: Tenant, permissions: 'full' | 'read_only') {
  const reply = await operate(world, 'issue-api-key', { client_id: clientId, permissions })
  if (reply?.status !== 200) return undefined
  return { apiKey: String(reply.body['api_key']), keyId: String(reply.body['key_id']) }
}

function isTaken(reply: HttpReply | undefined) {
  return reply !== undefined && reply.status < 300
}

async function restrict({ world }: Scene, tenant: Tenant) {
  const made = await issue(world, tenant, 'read_only')
  if (!made) return
  count(world.tally, 'key restricted')
  tenant.formerKeys.push(made.apiKey)
  const body = JSON.stringify({ method: 'qris', amount: 10_000, currency: 'IDR' })
  const created = await requestAs(world, made, 'api-create-payment', { body })
  if (created && ![401, 403, 500].includes(created.status))
    world.problems.push(
      `a key of ${tenant.clientId} that may only read was answered ${created.status}`,
    )
  if (created?.status === 403) reportSituation(world, 'a read-only key is refused')
  const read = await requestAs(world, made, 'api-get-balance')
  if (isTaken(read)) count(world.tally, 'key restricted: read all the same')
}

async function changeClient({ world }: Scene, tenant: Tenant) {
  if (tenant.isBeingChanged === true) return
  tenant.isBeingChanged = true
  const change = (fields: object) =>
    operate(world, 'update-client', { client_id: tenant.clientId, ...fields })
  const bank = {
    bank_name: 'BNI',
    bank_account_no: `009988${world.prng.int(1_000, 9_999)}`,
    bank_account_name: 'PT Baru',
  }
  await change({ bank, return_url: `https://toko.example/${world.prng.int(1, 9)}` })
  const disabled = await change({ enabled: false })
  if (disabled?.status === 200) {
    count(world.tally, 'client disabled')
    await waitFor(world, ACTS_MS)
    if (isTaken(await requestAs(world, tenant, 'api-get-balance')))
      world.problems.push(`${tenant.clientId} is answered after it was disabled`)
  }
  // The operator enables the client again, despite any fault.
  for (
    let reply = await change({ enabled: true });
    reply?.status !== 200;
    reply = await change({ enabled: true })
  )
    await waitFor(world, ACTS_MS)
  tenant.isBeingChanged = false
}

export function changeAccount(world: World, clientId: string) {
  const bank = {
    bank_name: 'BNI',
    bank_account_no: `001122338${world.scenePrng.int(1, 4)}`,
    bank_account_name: 'PT Berdua',
  }
  return operate(world, 'update-client', { client_id: clientId, bank })
}

const CHANGES = [
  update('disabled', { enabled: false }),
  update('enabled', { enabled: true }),
  update('subscribed anew', { event_types: ['payment.succeeded'] }),
  remove,
  replace,
  replace,
]

export async function changeEndpoints(play: Scene) {
  const { world, tenants, prng } = play
  if (!hasFault(world, 'endpointChanges')) return
  const tenant = prng.pick(tenants)
  const live = liveEndpoints(tenant)
  if (live.length === 0) return
  const endpoint = prng.pick(live)
  const operators = Array.from({ length: prng.pick([1, 1, 1, 2, 3, 4]) }, async () => {
    await waitFor(world, prng.int(0, 30))
    await prng.pick(CHANGES)(play, tenant, endpoint)
  })
  await Promise.all(operators)
}

type Change = (play: Scene, tenant: Tenant, endpoint: SimEndpoint) => Promise<void>

function update(what: string, fields: object): Change {
  return async ({ world }, tenant, endpoint) => {
    const reply = await ask(world, 'update-endpoint', tenant, endpoint, fields)
    if (reply?.status === 200) count(world.tally, `endpoint ${what}`)
  }
}

/** The answer of the action may be lost. */
function ask(
  world: World,
  action: string,
  tenant: Tenant,
  endpoint: SimEndpoint,
  fields: object = {},
) {
  return operate(world, action, {
    client_id: tenant.clientId,
    endpoint_id: endpoint.endpointId,
    ...fields,
  })
}

async function remove({ world }: Scene, tenant: Tenant, endpoint: SimEndpoint) {
  const reply = await ask(world, 'delete-endpoint', tenant, endpoint)
  if (reply?.status !== 200) return
  count(world.tally, 'endpoint deleted')
  endpoint.isGone = true
}

/**
 * The new endpoint is registered first, as in a rotation of its secret. Without an answer the
 * endpoint is not used.
 */
async function replace(play: Scene, tenant: Tenant, endpoint: SimEndpoint) {
  const { world } = play
  const made = await addEndpoint(world, tenant.clientId)
  if (made) {
    tenant.endpoints.push(made)
    count(world.tally, 'endpoint replaced')
  }
  await remove(play, tenant, endpoint)
}

const MINUTE_MS = 60_000
/** As long as some attempts, or as whole rounds. */
const LONG_MS = [2 * MINUTE_MS, 20 * MINUTE_MS, 150 * MINUTE_MS, 400 * MINUTE_MS]

const COURSES: readonly (readonly Impairment[])[] = [['late'], ['late', 'refuses'], ['refuses']]
/**
 * The longest time between two test events: their deliveries are abandoned together, or soon after
 * each other.
 */
const MAX_APART_MS = [30_000, 12 * MINUTE_MS]

export async function impairEndpoint(play: Scene) {
  const { world, tenants, prng, scheduler, merchants } = play
  const { clientId, endpoints } = prng.pick(tenants)
  const { endpointId, url } = prng.pick(endpoints)
  if (merchants.impaired.has(url)) return
  for (const impairment of prng.pick(COURSES)) {
    count(world.tally, `endpoint ${impairment}`)
    merchants.impaired.set(url, impairment)
    const untilMs = scheduler.nowMs() + prng.pick(LONG_MS) * (0.5 + prng.next())
    for (let left = prng.int(1, 4); left > 0 && scheduler.nowMs() < untilMs; left--) {
      await operate(world, 'send-test-event', { client_id: clientId, endpoint_id: endpointId })
      await waitFor(world, prng.int(0, prng.pick(MAX_APART_MS)))
    }
    await waitFor(world, Math.ceil(Math.max(0, untilMs - scheduler.nowMs())))
  }
  merchants.impaired.delete(url)
}
