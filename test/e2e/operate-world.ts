import { expect } from 'vitest'
import { browserIt } from './console-browser.ts'
import { QRIS, type World } from './gateway-world.ts'

const FIVE_DAYS = 5 * 86_400

type Merchant = Awaited<ReturnType<World['merchant']>>

/** A world with one item of each kind that waits for an operator. */
export const operateIt = browserIt.extend(
  'operated',
  { scope: 'file' },
  async ({ world }: { readonly world: World }) => {
    const steady = await merchantWithBank(world, 'PT Warung Kopi', ['0012345678'])
    const moved = await merchantWithBank(world, 'PT Toko Buku', ['0098765432', '0098765499'])
    const closed = await merchantWithBank(world, 'PT Akun Tutup', ['0055555555'])
    const { demo } = world
    for (const merchant of [steady, moved, closed]) await paidPayment(world, merchant, 150_000)
    const disputed = await paidPayment(world, demo, 80_000)
    await world.control(disputed, 'reverse', { kind: 'chargeback', amount: 10_000 })
    const held = await paidPayment(world, demo, 90_000, 60_000)
    await settle(world, 4)
    return { steady, moved, closed, disputed, held }
  },
)

/** A merchant whose bank account was changed as often as it has further accounts. */
async function merchantWithBank(world: World, name: string, accounts: readonly string[]) {
  const merchant = await world.merchant([])
  for (const account of accounts) {
    const bank = { bank_name: 'BCA', bank_account_no: account, bank_account_name: name }
    await world.admin('update-client', { operator: 'test', client_id: merchant.clientId, bank })
  }
  return merchant
}

async function paidPayment(
  world: World,
  { create, payment }: Pick<Merchant, 'create' | 'payment'>,
  amount: number,
  wrongAmount?: number,
) {
  const { body } = await create({ ...QRIS, amount }, crypto.randomUUID())
  const id = String(body['id'])
  if (wrongAmount !== undefined) await world.fault('payment', 'wrong_amount', wrongAmount)
  await world.pay(id)
  const wanted = wrongAmount === undefined ? 'succeeded' : 'failed'
  await expect.poll(async () => (await payment(id))['status']).toBe(wanted)
  return id
}

/** The provider settles, the sweep records settlements, and the audits let them be paid out. */
async function settle(world: World, count: number) {
  await world.advance(FIVE_DAYS)
  await world.invoke('sync-provider-transactions')
  await world.invoke('check-due-work')
  await world.invoke('sweep-settlements')
  await expect
    .poll(async () => (await world.admin('list-settlements', { status: 'recorded' })).body['data'])
    .toHaveLength(count)
  await world.advance(120)
  await world.invoke('check-due-work')
  const { body } = await world.admin('list-clients', { per_page: 100 })
  const clients = body['data'] as readonly { client_id: string }[]
  for (const owner of [{}, ...clients.map(({ client_id }) => ({ client_id }))])
    await world.admin('audit-ledger', { operator: 'test', ...owner })
}
