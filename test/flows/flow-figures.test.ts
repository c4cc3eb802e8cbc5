import { expect, it } from 'vitest'
import { byGroup, limitsFor, problemsOf } from './flow-figures.ts'

// How the lines and files of a flow are counted: `flows.test.ts` holds it, whose limits are close.
it('a limit refuses a figure above it, and is refused itself when it is far above the figure', () => {
  const limits = limitsFor(byGroup(() => ({ files: 20, lines: 290 })))
  const above = { ...limits, own: { files: 20, lines: 301 } }
  const farBelow = { ...limits, basic: { files: 13, lines: 290 } }

  expect(problemsOf('settle', limits, limits)).toStrictEqual([])
  expect(problemsOf('settle', above, limits)).toStrictEqual([
    'settle, own code: 301 lines, limit 300. "npm run flows -- settle" lists the files',
  ])
  expect(problemsOf('settle', farBelow, limits)).toStrictEqual([
    'settle, directly in `shared/`: 13 files, limit 20 is too high. "npm run flows" prints ' +
      'the new limits',
  ])
})
