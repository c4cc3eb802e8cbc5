import { expect, it } from 'vitest'
import { slicesSince } from '../../../shared/audit/audit-parts.ts'

const ALL = Array.from({ length: 30 }, (_, slice) => slice)

it.each([
  ['one slice a day', 19_999, [20]],
  ['the slices of the days that it missed', 19_996, [17, 18, 19, 20]],
  ['every slice once after a month without', 19_900, ALL],
  ['every slice when it is the first', undefined, ALL],
  ['no slice twice on a day', 20_000, []],
])('an audit reads %s', (_, auditedDay, due) => {
  expect(ALL.filter(slicesSince(auditedDay, 20_000))).toStrictEqual(due)
})
