import * as v from 'valibot'
import { expect, it } from 'vitest'
import {
  isFull,
  isReadable,
  PER_PAGE,
  SuspenseSchema,
} from '../../../infra/local/console/page/operate/operate-shapes.ts'

it('the console reads on after a page with a row that cannot be read, and says so', () => {
  const item = { kind: 'case', cause: 'dispute', amount_minor: 1, payment_id: null, status: 'open' }
  const data = Array(PER_PAGE - 1).fill({
    ...item,
    suspense_id: '',
    created_at: '',
    resolution: null,
  })

  const page = v.parse(SuspenseSchema, { data, unreadable_ids: ['x'] })

  expect([isFull(page), isReadable(page)]).toStrictEqual([true, false])
})
