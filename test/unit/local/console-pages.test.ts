import * as v from 'valibot'
import { expect, it } from 'vitest'
import {
  isFull,
  isReadable,
  PER_PAGE,
  SuspenseSchema,
} from '../../../infra/local/console/page/operate/operate-shapes.ts'

it('the console reads on after a page with a row that cannot be read, and says so', () => {
  const page = v.parse(SuspenseSchema, { data: [], unreadable_ids: ['x'] })

  expect(isFull({ ...page, data: Array(PER_PAGE - 1).fill(0) })).toBe(true)
  expect(isReadable(page)).toBe(false)
})
