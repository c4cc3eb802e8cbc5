import { operate } from '../world/lambda.ts'
import type { Prng } from '../world/prng.ts'
import type { World } from '../world/world.ts'
import type { Scene } from './scene.ts'

const account = (number: number) => ({
  bank_name: 'BNI',
  bank_account_no: `88${number}`,
  bank_account_name: 'PT Berdua',
})

const changeOf = (prng: Prng): object =>
  prng.pick([
    { settlement_floor_minor: prng.pick([0, 10_000, 250_000]) },
    { settlement_floor_minor: prng.pick([0, 20_000]), return_url: `https://toko.example/${prng.int(1, 9)}` },
    { bank: account(prng.int(1, 2)) },
    { bank: account(prng.int(1, 2)) },
    { bank: null },
    { ledger_parts: prng.int(1, 5) },
  ])

/** An operator enters another account. */
export const changeAccount = (world: World, clientId: string) =>
  operate(world, 'update-client', { client_id: clientId, bank: account(world.oddities.int(1, 4)) })

/** Two operators change a client at the same moment: different fields, or the same one. */
export const changeTogether = async ({ world, tenants }: Scene): Promise<void> => {
  const { clientId } = world.prng.pick(tenants)
  const changes = Array.from({ length: world.prng.int(1, 3) }, () => changeOf(world.prng))
  await Promise.all(changes.map((change) => operate(world, 'update-client', { client_id: clientId, ...change })))
}
