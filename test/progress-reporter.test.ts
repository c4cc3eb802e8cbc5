import { expect, it } from 'vitest'
import { progressLine } from './progress-reporter.ts'

const WAITING = { tests: 0, done: 0, isOver: false }
const BEGUN = { tests: 1_000, done: 250, isOver: false }
const OVER = { tests: 1_000, done: 1_000, isOver: true }

it.each([
  [[WAITING, WAITING], '0 of about 0 tests done, 0 of 2 files'],
  [[OVER, BEGUN, WAITING], '1,250 of about 3,000 tests done, 1 of 3 files, about 80 s left'],
  [[OVER, BEGUN], '1,250 of 2,000 tests done, 1 of 2 files, about 40 s left'],
  [
    [OVER, ...Array.from({ length: 9 }, () => WAITING)],
    '1,000 of about 10,000 tests done, 1 of 10 files, about 9 min left',
  ],
])('a progress line says how many of the tests are done: %#', (files, line) => {
  expect(progressLine(files, 60_000)).toBe(line)
})
