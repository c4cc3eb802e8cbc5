import { FLOWS } from '../simulation/crashes/flows.ts'
import { alone, forClient, paid, pass } from '../simulation/crashes/payment-flows.ts'
import { seenBy } from '../simulation/histories/books-at-rest.ts'
import { startPlay } from '../simulation/histories/history.ts'
import type { Play } from '../simulation/histories/operations.ts'
import { loadFunctions } from '../simulation/world/environments.ts'
import { NO_FAULTS } from '../simulation/world/faults.ts'
import { invoke, operate, requestAs } from '../simulation/world/lambda.ts'
import { drive } from '../simulation/world/world.ts'
import { createShapes, type Kept, type RawItem, readToday } from './kept-shapes.ts'

/** All fields that a merchant may send: the flows send few of them. */
const IN_FULL = JSON.stringify({
  method: 'ewallet',
  channel_code: 'DANA',
  amount: 150_000,
  currency: 'IDR',
  external_reference: 'order-1',
  description: 'Sepatu',
  customer: { name: 'Pelanggan', email: 'pelanggan@example.com', phone: '+628123456789' },
  metadata: { order: 1, big: '12345678901234567890' },
  expires_in_seconds: 7_200,
})

/** What operators change of a client, its keys and its endpoints. */
const operated = async (play: Play): Promise<void> => {
  const { world } = play
  const client = forClient(play)
  const does = async (action: string, fields: object) => {
    const reply = await drive(world, operate(world, action, { ...client, ...fields }))
    if (reply?.status !== 200) throw new Error(`${action} was answered ${JSON.stringify(reply)}`)
    return reply.body
  }
  const bank = { bank_name: 'BNI', bank_account_no: '998877', bank_account_name: 'PT Baru' }
  await does('update-client', { bank, return_url: 'https://toko.example/1', enabled: false })
  await does('update-client', { enabled: true, rate_limit_per_second: 50 })
  const { key_id } = await does('issue-api-key', { expires_in_seconds: 86_400, permissions: 'read_only' })
  await does('revoke-api-key', { key_id })
  const { endpoint_id } = await does('register-endpoint', { url: 'https://toko.example/hooks', event_types: ['*'] })
  await does('send-test-event', { endpoint_id })
  await does('update-endpoint', { endpoint_id, enabled: false, event_types: ['payment.succeeded'] })
}

const createInFull = async ({ world, tenants: [, tenant] }: Play): Promise<void> => {
  if (!tenant) throw new Error('the play has no second tenant')
  const asked = { headers: { 'idempotency-key': 'in-full' }, body: IN_FULL }
  const reply = await drive(world, requestAs(world, tenant, 'api-create-payment', asked))
  if (reply?.status !== 201) throw new Error(`the create was answered ${reply?.text ?? 'nothing'}`)
}

/** After these flows days pass, in which the schedules run: audits, comparisons, counts. */
const DAYS_BEHIND = /^(settle|callback, wrong amount|sync, of .*)$/
const DAYS_MS = 3 * 86_400_000

const letDaysPass = async (play: Play): Promise<void> => {
  play.world.faults = NO_FAULTS
  await pass(play, DAYS_MS)
}

/** The provider refuses everybody for an hour, then does not show what it has taken, which is too little. */
const inTrouble = async (play: Play): Promise<void> => {
  alone(play)
  await drive(play.world, invoke(play.world, 'sync-provider-transactions', {}))
  await paid(play, 299_999)
  alone(play, { providerRateLimit: 1, scheduleMissed: 0 })
  await pass(play, 3_600_000)
  alone(play, { providerBehind: 1, scheduleMissed: 0 })
  await pass(play, DAYS_MS)
  await letDaysPass(play)
}

const refuseSecrets = (play: Play, items: readonly RawItem[]): void => {
  const text = JSON.stringify(items)
  const personal = play.tenants.flatMap((tenant) => Object.values(tenant.personal))
  if (seenBy(play).confidential.some((one) => !personal.includes(one) && text.includes(one)))
    throw new Error('a secret is in what the table stores')
}

const SEED = 5

/**
 * One item of every shape that this tree stores, between the writes of a flow too, with what the tree reads of it. Clock
 * and ids are the simulation's, so each run collects the same items.
 */
export const collectShapes = async (): Promise<readonly Kept[]> => {
  const functions = await loadFunctions()
  const { note, kept } = createShapes()
  const watched = async () => {
    const play = await startPlay({ seed: SEED, functions })
    play.world.table.items().forEach(note)
    play.world.onChange.push(({ after }) => after && note(after))
    return play
  }
  const first = await watched()
  await createInFull(first)
  await operated(first)
  refuseSecrets(first, kept)
  await inTrouble(await watched())
  for (const flow of FLOWS) {
    const play = await watched()
    await drive(play.world, flow.run(play, await flow.prepare(play), {}))
    if (DAYS_BEHIND.test(flow.name)) await letDaysPass(play)
    refuseSecrets(play, kept)
  }
  const answers = await Promise.all(kept.map(readToday))
  return kept.map((item, at) => ({ item, ...(answers[at] !== undefined && { read: answers[at] }) }))
}
