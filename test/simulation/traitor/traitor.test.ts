/**
 * Goal: a function that a stranger has taken over can pay no rupiah of one client to another.
 * Method: one function writes whatever its role allows, drawn from the manifest, while merchants
 * sell and operators pay out. Among its writes are those that move a paid payment with all its
 * figures. `npm run traitor` runs more seeds.
 */
import { expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { createMemoryTable } from '../../../infra/local/emulators/memory-table/memory-table.ts'
import { put } from '../../../shared/table/step.ts'
import { functionOf } from '../world/environments.ts'
import { misdirected } from './misdirected.ts'
import { facesStrangers, runTraitor } from './run-traitor.ts'

it.each([
  ['api-create-payment', 4],
  ['receive-provider-callback', 2],
  ['api-redeliver-to-endpoint', 6],
  ['deliver-webhook', 5],
])('%s writes what it may, and no money goes to another client (seed %i)', async (name, seed) => {
  const { problems, writes } = await runTraitor({ seed, spec: functionOf(name).spec })

  expect(problems).toStrictEqual([])
  expect(writes).toBeGreaterThan(1)
})

it('calls the functions of the API, the callback and the webhook queue strangers’', () => {
  const names = MANIFEST.filter(facesStrangers).map(({ name }) => name)

  expect(names.filter((name) => !name.startsWith('api-'))).toStrictEqual([
    'receive-provider-callback',
    'deliver-webhook',
  ])
})

it.each([
  ['its payment', { payment_id: 'p-other' }],
  ['its row', { payment_id: 'p-own', provider_transaction_id: 'row-other' }],
])('sees money that a paid settlement took from another client, by %s', (_, named) => {
  const table = createMemoryTable({})
  const row = { reference_id: `${'p-other'.padEnd(36)}-1` }
  const provider = { transactionRecords: () => [{ id: 'row-other', row }] }
  const clients = new Map([
    ['p-own', 'own'],
    ['p-other', 'other'],
    ['p-other'.padEnd(36), 'other'],
  ])
  const window = { swept_from: '2026-11-01', swept_until: '2026-11-02' }
  const paid = { settlement_id: 's', client_id: 'own', status: 'manual_paid', ...window }
  for (const [pk, sk, item] of [
    ['SETTLEMENT#s', 'SETTLEMENT', paid],
    ['JOURNAL#own', '2026-11-01T01#e', { net_minor: 5, ...named }],
    ['JOURNAL#own', '2026-11-01T02#f', { net_minor: 5, payment_id: 'p-own' }],
  ] as const)
    table.requests.write(put({ pk, sk }, item))

  expect(misdirected({ table, provider } as never, clients)).toHaveLength(1)
})
