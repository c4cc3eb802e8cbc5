import { meet } from '../sometimes/meet.ts'
import { passed } from '../world/drive.ts'
import { type HttpReply, operate, requestAs } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import { isHit, type World } from '../world/world.ts'
import type { Scene } from './scene.ts'

/** A revocation acts within fifteen seconds, by clocks that differ by twenty at most. */
const ACTS_MS = 40_000

const issue = async (world: World, { clientId }: Tenant, permissions: 'full' | 'read_only') => {
  const reply = await operate(world, 'issue-api-key', { client_id: clientId, permissions })
  if (reply?.status !== 200) return undefined
  return { apiKey: String(reply.body['api_key']), keyId: String(reply.body['key_id']) }
}

const isTaken = (reply: HttpReply | undefined): boolean => reply !== undefined && reply.status < 300

/** The merchant changes over to a new key; soon nobody gets anything for the old one. */
const rotate = async ({ world, seen }: Scene, tenant: Tenant): Promise<void> => {
  const made = await issue(world, tenant, 'full')
  if (!made) return
  const { apiKey: old, keyId } = tenant
  Object.assign(tenant, made)
  tenant.formerKeys.push(old)
  const revoked = await operate(world, 'revoke-api-key', { client_id: tenant.clientId, key_id: keyId })
  if (revoked?.status !== 200) return
  count(world.tally, 'key revoked')
  await passed(world, ACTS_MS)
  if (isTaken(await requestAs(world, { apiKey: old }, 'api-get-balance')))
    seen.problems.push(`a key of ${tenant.clientId} is taken after it was revoked`)
}

/** A key that may only read asks for a payment. */
const restrict = async ({ world, seen }: Scene, tenant: Tenant): Promise<void> => {
  const made = await issue(world, tenant, 'read_only')
  if (!made) return
  count(world.tally, 'key restricted')
  tenant.formerKeys.push(made.apiKey)
  const body = JSON.stringify({ method: 'qris', amount: 10_000, currency: 'IDR' })
  const created = await requestAs(world, made, 'api-create-payment', { body })
  if (created && ![401, 403, 500].includes(created.status))
    seen.problems.push(`a key of ${tenant.clientId} that may only read was answered ${created.status}`)
  if (created?.status === 403) meet(world, 'a key that may only read is refused')
  const read = await requestAs(world, made, 'api-get-balance')
  if (isTaken(read)) count(world.tally, 'key restricted: read all the same')
}

/** What a merchant is called, where its money goes and where its customers return to changes; or it is shut out for a while. */
const changeClient = async ({ world, seen }: Scene, tenant: Tenant): Promise<void> => {
  if (tenant.isBeingChanged === true) return
  tenant.isBeingChanged = true
  const change = (fields: object) => operate(world, 'update-client', { client_id: tenant.clientId, ...fields })
  const bank = { bank_name: 'BNI', bank_account_no: `99${world.prng.int(1_000, 9_999)}`, bank_account_name: 'PT Baru' }
  await change({ bank, return_url: `https://toko.example/${world.prng.int(1, 9)}` })
  const disabled = await change({ enabled: false })
  if (disabled?.status === 200) {
    count(world.tally, 'client disabled')
    await passed(world, ACTS_MS)
    if (isTaken(await requestAs(world, tenant, 'api-get-balance')))
      seen.problems.push(`${tenant.clientId} is answered after it was disabled`)
  }
  // The operator who shut it out opens again, whatever goes wrong meanwhile.
  for (let reply = await change({ enabled: true }); reply?.status !== 200; reply = await change({ enabled: true }))
    await passed(world, ACTS_MS)
  tenant.isBeingChanged = false
}

/** Keys are rotated and restricted, clients changed and shut out, in the midst of everything. */
export const changeKeys = async (play: Scene): Promise<void> => {
  const { world, tenants } = play
  if (!isHit(world, 'clientChanges')) return
  await world.prng.pick([rotate, rotate, restrict, changeClient])(play, world.prng.pick(tenants))
}
