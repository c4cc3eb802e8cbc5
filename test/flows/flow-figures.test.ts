import { describe, expect, it } from 'vitest'
import { byGroup, flowFigures, limitsFor, problemsOf } from './flow-figures.ts'

function same(files: number, lines: number) {
  return byGroup(() => ({ files, lines }))
}

describe('the figures of a flow', () => {
  it('are counted in three groups', () => {
    const files = [
      { path: 'functions/api/create-payment.ts', lines: 9 },
      { path: 'shared/payment/payment-dto.ts', lines: 30 },
      { path: 'shared/runtime/aws/retrying-table.ts', lines: 60 },
      { path: 'shared/table/keys.ts', lines: 20 },
      { path: 'shared/time.ts', lines: 8 },
    ]

    expect(flowFigures(files)).toStrictEqual({
      own: { files: 2, lines: 39 },
      technical: { files: 2, lines: 80 },
      basic: { files: 1, lines: 8 },
    })
  })

  it('fit the limits that are made from them', () => {
    const figures = same(21, 301)

    const limits = limitsFor(figures)

    expect(limits).toStrictEqual(same(25, 350))
    expect(problemsOf('settle', figures, limits)).toStrictEqual([])
  })
})

describe('a limit', () => {
  const limits = same(20, 300)

  it('refuses a figure above it, and names the command that lists the files', () => {
    const figures = { ...limits, own: { files: 20, lines: 301 } }

    expect(problemsOf('settle', figures, limits)).toStrictEqual([
      'settle, own code: 301 lines, limit 300. "npm run flows -- settle" lists the files',
    ])
  })

  it('is refused when it is far above the figure', () => {
    const figures = { ...limits, basic: { files: 13, lines: 227 } }

    expect(problemsOf('settle', figures, limits)).toStrictEqual([
      'settle, directly in `shared/`: 13 files, limit 20 is too high. "npm run flows" prints ' +
        'the new limits',
      'settle, directly in `shared/`: 227 lines, limit 300 is too high. "npm run flows" ' +
        'prints the new limits',
    ])
  })
})
