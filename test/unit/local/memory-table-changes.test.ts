import { expect, it } from 'vitest'
import { createMemoryTable } from '../../../infra/local/emulators/memory-table/memory-table.ts'
import { exists, guard, put, update } from '../../../shared/table/step.ts'

// What it models is held to DynamoDB Local in `test/simulation/conformance`.

it('the table in memory refuses to guess about what it does not model', () => {
  const key = { pk: 'PAYMENT#1', sk: 'PAYMENT' }
  const { write, transact } = createMemoryTable().requests
  write(put(key, { amount: Number.MAX_SAFE_INTEGER }))
  const outside = expect.objectContaining({ name: 'OutsideModel' })
  const large = Array.from({ length: 11 }, (_, at) => put({ pk: key.pk, sk: String(at) }, { a: 'x'.repeat(400_000) }))

  expect(() => write(update(key, { add: { amount: 1 } }))).toThrow(outside)
  expect(() => write(guard(key, exists))).toThrow(outside)
  expect(() => transact(large)).toThrow(outside)
})
