import { passed } from '../world/drive.ts'
import { operate, requestAs } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import type { Scene } from './scene.ts'

/** Machines' clocks differ by so much, and a request takes its time. */
const APART_MS = 40_000

/** A key for a moment. After its time, and once it is revoked, no request with it is answered. It is revoked once. */
export const useShortKey = async ({ world, tenants, seen }: Scene): Promise<void> => {
  const { clientId, apiKey: own } = world.prng.pick(tenants)
  const seconds = world.prng.int(1, 20)
  const asked = { client_id: clientId, expires_in_seconds: seconds }
  const issued = await operate(world, 'issue-api-key', asked)
  if (issued?.status !== 200) return
  const [apiKey, keyId] = [String(issued.body['api_key']), String(issued.body['key_id'])]
  tenants.find((tenant) => tenant.apiKey === own)?.formerKeys.push(apiKey)
  // So that it is known where it will be asked for again.
  await requestAs(world, { apiKey }, 'api-get-balance')
  const revoke = () => operate(world, 'revoke-api-key', { client_id: clientId, key_id: keyId })
  if (world.prng.chance(0.5)) await Promise.all([revoke(), revoke()])
  await passed(world, seconds * 1_000 + APART_MS)
  const reply = await requestAs(world, { apiKey }, 'api-get-balance')
  count(world.tally, `after the end of a key: ${reply?.status ?? 'nothing'}`)
  if (reply && reply.status < 300) seen.problems.push(`a key of ${clientId} is taken after its end`)
}
