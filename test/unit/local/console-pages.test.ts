import * as v from 'valibot'
import { expect, it } from 'vitest'
import {
  allRuns,
  isReadable,
  SuspenseSchema,
} from '../../../infra/local/console/page/operate/operate-shapes.ts'
import {
  ClientsSchema,
  DeliveriesSchema,
  hasNext,
  PaymentsSchema,
  PER_PAGE,
} from '../../../infra/local/console/page/shapes.ts'

it('the console reads on after a page with a row that cannot be read, and says so', () => {
  const page = v.parse(SuspenseSchema, { data: [], unreadable_ids: ['x'] })

  const data = Array(PER_PAGE - 1).fill(0)
  expect(hasNext({ ...page, data })).toBe(true)
  for (const schema of [ClientsSchema, DeliveriesSchema])
    expect(hasNext({ ...v.parse(schema, { data: [], unreadable_ids: ['x'] }), data })).toBe(true)
  const isBefore = (total: number) =>
    hasNext(v.parse(PaymentsSchema, { data: [], pagination: { page: 2, total } }))
  expect([isBefore(201), isBefore(200)]).toStrictEqual([true, false])
  expect(isReadable(page)).toBe(false)
})

it('the console says so if payouts are left after its last run', async () => {
  const answer = {
    ok: true,
    status: 200,
    message: '',
    body: { batch: null, continuing: true, cursor: 'c' },
  }

  const { runs, stoppedBy } = await allRuns(answer, async () => answer)

  expect([runs.length, stoppedBy]).toStrictEqual([
    500,
    '500 runs are done. Make the next batch again.',
  ])
})
