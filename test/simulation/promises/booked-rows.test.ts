/**
 * The check of `booked-rows.ts` refuses: a row that no function has read is lost after three days.
 */
import { expect, it } from 'vitest'
import { NO_FAULTS } from '../world/faults.ts'
import { createWorld } from '../world/world.ts'
import { FOUND_MS, rowProblems } from './booked-rows.ts'

it.each([
  ['a payment', { type: 'PAYMENT', product_id: 'py-1', settlement_status: 'SETTLED' }],
  ['a withdrawal', { type: 'WITHDRAWAL' }],
  ['an unknown type', { type: 'TYPE_OF_TOMORROW' }],
])('a row of %s that is in no book is lost three days after it was shown', async (_type, row) => {
  const world = Object.assign(createWorld({ seed: 1 }), { faults: NO_FAULTS })
  const { id } = world.provider.bookTransaction({ ...row, shown_after_seconds: 3_600 })

  await world.scheduler.runFor(FOUND_MS)
  expect(rowProblems(world)).toStrictEqual([])

  await world.scheduler.runFor(3_600_000)
  expect(rowProblems(world)).toStrictEqual([
    `${row.type} ${id} is neither an entry, an item nor a finding`,
  ])
})
