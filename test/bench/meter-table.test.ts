import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { exists, put, update } from '../../shared/table/step.ts'
import { meteredDeps, storedBytes } from './meter-table.ts'

const pk = `bench-${randomUUID()}`
const key = { pk, sk: 'a' }
const listed = { owner: pk, entity: 'bench', listedAt: 'now', id: pk }
const page = { index: 'by-owner', partition: [pk, 'bench'], limit: 10 } as const

describe('meterTable', () => {
  it('counts what DynamoDB bills and DynamoDB Local does not: transactions twice, reads that find nothing', async () => {
    const {
      deps: { requests },
      meter: { take },
    } = meteredDeps()
    const missing = { pk, sk: 'missing' }

    await requests.transact([put(key, {}), put({ pk, sk: 'b' }, listed)])
    expect(take()).toMatchObject({ reads: 0, writes: 2 * (1 + 2) })
    await requests.transact([update({ pk, sk: 'b' }, { set: { id: 'another' } })])
    expect(take()).toMatchObject({ reads: 0, writes: 2 * (1 + 2) })
    await requests.get(missing)
    expect(take()).toMatchObject({ reads: 1, writes: 0 })
    await requests.batchGet([missing, { pk, sk: 'neither' }])
    expect(take()).toMatchObject({ reads: 2, writes: 0 })
    await requests.query({ ...page, partition: ['unknown-client', 'bench'] })
    expect(take()).toMatchObject({ reads: 0.5, writes: 0 })
  })

  it('counts a write that is refused', async () => {
    const {
      deps: { requests },
      meter: { take },
    } = meteredDeps()

    expect(await requests.write(update(key, { set: { note: 'late' } }, exists))).toMatchObject({ applied: false })

    expect(take()).toMatchObject({ reads: 0, writes: 1 })
  })
})

describe('storedBytes', () => {
  it('adds the overhead of the item and of every index that has it', async () => {
    const {
      memory,
      deps: { requests },
    } = meteredDeps()
    await requests.write(put({ pk: 'ab', sk: 'c' }, { n: 12 }))
    const plain = 2 + 2 + 2 + 1 + (1 + 2) + 100

    expect(storedBytes(memory)).toBe(plain)
    await requests.write(put({ pk: 'ab', sk: 'd' }, { owner: 'o', entity: 'e', listedAt: 't', id: 'i' }))
    const listedBytes = 2 + 2 + 2 + 1 + (5 + 1) + (6 + 1) + (9 + 1) + (2 + 1) + 100
    expect(storedBytes(memory)).toBe(plain + 2 * listedBytes)
  })
})
