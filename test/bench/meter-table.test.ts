import { expect, it } from 'vitest'
import type { TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import { exists, put, update } from '../../shared/table/step.ts'
import { meteredDeps, storedBytes } from './meter-table.ts'

const pk = 'bench'
const key = { pk, sk: 'a' }
const page = { index: 'by-owner', partition: ['unknown-client', 'bench'], limit: 10 } as const

// Every other rule of the meter: test/simulation/conformance/units-conformance.test.ts.
it.each<[string, (requests: TableRequests) => Promise<unknown>, reads: number, writes: number]>([
  [
    'a write that is refused',
    ({ write }) => write(update(key, { set: { note: 'late' } }, exists)),
    0,
    1,
  ],
  ['a read that finds nothing', ({ get }) => get(key), 1, 0],
  [
    'each read of a batch that finds nothing',
    ({ batchGet }) => batchGet([key, { pk, sk: 'b' }]),
    2,
    0,
  ],
  ['a query that finds nothing, half', ({ query }) => query(page), 0.5, 0],
])(
  'meterTable counts what DynamoDB bills and DynamoDB Local does not: %s',
  async (_, ask, reads, writes) => {
    const { deps, meter } = meteredDeps()

    await ask(deps.requests)

    expect(meter.take()).toMatchObject({ reads, writes })
  },
)

it('storedBytes adds the overhead of an item and of every index that has it', async () => {
  const { memory, deps } = meteredDeps()
  await deps.requests.write(put({ pk: 'ab', sk: 'c' }, { n: 12 }))
  const plain = 2 + 2 + 2 + 1 + (1 + 2) + 100

  expect(storedBytes(memory)).toBe(plain)
  await deps.requests.write(
    put({ pk: 'ab', sk: 'd' }, { owner: 'o', entity: 'e', listedAt: 't', id: 'i' }),
  )
  const listedBytes = 2 + 2 + 2 + 1 + (5 + 1) + (6 + 1) + (9 + 1) + (2 + 1) + 100
  expect(storedBytes(memory)).toBe(plain + 2 * listedBytes)
})
