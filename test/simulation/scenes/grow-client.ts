import { operate } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import type { Scene } from './scene.ts'

/** A client grows in the midst of everything, where the release before will not come back; it never shrinks. */
export const growClient = async ({ world, tenants, seen }: Scene): Promise<void> => {
  const parts = world.prng.int(1, 5)
  const client_id = world.prng.pick(tenants).clientId
  const reply = await operate(world, 'update-client', { operator: 'sim', client_id, ledger_parts: parts })
  if (reply?.status === 200) count(world.tally, `client has ${parts} parts`)
  const isRight =
    reply?.status === 422 || (reply?.body['ledger_parts'] === parts && (world.storedRows === 'lean' || parts === 1))
  if (reply && reply.status !== 500 && !isRight)
    seen.problems.push(`a client that grows was answered ${JSON.stringify(reply)}`)
}
