import { passed } from '../world/drive.ts'
import { operate } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import type { Scene } from './scene.ts'
import { sellMany } from './sell-many.ts'

/** A client grows in the midst of everything; it never shrinks. */
export const growClient = async (scene: Scene): Promise<void> => {
  const { world, tenants, seen } = scene
  const parts = world.prng.int(1, 5)
  const tenant = world.prng.pick(tenants)
  const client_id = tenant.clientId
  const reply = await operate(world, 'update-client', { client_id, ledger_parts: parts })
  if (reply?.status === 200) count(world.tally, `client has ${parts} parts`)
  // 409: others were at the same client at each of its tries.
  const isRight = [409, 422].includes(reply?.status ?? 0) || reply?.body['ledger_parts'] === parts
  if (reply && reply.status !== 500 && !isRight)
    seen.problems.push(`a client that grows was answered ${JSON.stringify(reply)}`)
  // Before its parts are in force, or just after that.
  await passed(world, world.prng.pick([0, 20_000, 80_000]))
  await sellMany(scene, tenant)
}
