import { expect, it } from 'vitest'
import { executedLines } from './executed-files.ts'

const TEXT = `const limit = 3
function outer(values) {
  if (values.length > limit) return []

  return values.map((value) => {
    return value + 1
  })
}
function other() {
  return limit
}
`

/** The coverage of the module, and of the functions whose texts begin and end so. */
function coverage(...functions: readonly (readonly [begin: string, end: string, count: number])[]) {
  return [
    { ranges: [{ startOffset: 0, endOffset: TEXT.length, count: 1 }] },
    ...functions.map(([begin, end, count]) => {
      const startOffset = TEXT.indexOf(begin)
      return {
        ranges: [{ startOffset, endOffset: TEXT.indexOf(end, startOffset) + end.length, count }],
      }
    }),
  ]
}

function outer(count: number) {
  return ['function outer', '\n}', count] as const
}
function inner(count: number) {
  return ['(value)', '\n  }', count] as const
}
function other(count: number) {
  return ['function other', '\n}', count] as const
}

it('counts the lines of functions that ran, without empty lines', () => {
  expect(executedLines(TEXT, coverage(other(0), inner(2), outer(1)))).toStrictEqual([
    2, 3, 5, 6, 7, 8,
  ])
})

it('leaves out an inner function that did not run, except the lines that it shares with the outer one', () => {
  expect(executedLines(TEXT, coverage(outer(1), inner(0), other(1)))).toStrictEqual([
    2, 3, 5, 7, 8, 9, 10, 11,
  ])
})

it('counts no line of a module that was only loaded', () => {
  expect(executedLines(TEXT, coverage(outer(0), other(0)))).toStrictEqual([])
})
