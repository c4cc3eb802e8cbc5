import type { Reporter, TestSpecification, Vitest } from 'vitest/node'

const LINE_EVERY_MS = 30_000

/** Prints each half minute how many of the tests are done, and about how long the others take. */
export function progressReporter(): Reporter {
  let vitest: Vitest
  let timer: NodeJS.Timeout
  return {
    onInit: (started) => {
      vitest = started
    },
    onTestRunStart: (specifications) => {
      const startedMs = performance.now()
      const print = () => {
        const counts = specifications.map(countsOf)
        vitest.logger.log(progressLine(counts, performance.now() - startedMs))
      }
      timer = setInterval(print, LINE_EVERY_MS)
    },
    onTestRunEnd: () => clearInterval(timer),
  }
}

/** The file has no tests before it is loaded. */
type Counts = { readonly tests: number; readonly done: number; readonly isOver: boolean }

function countsOf({ testModule }: TestSpecification) {
  const tests = [...(testModule?.children.allTests() ?? [])]
  const done = tests.filter((test) => test.result().state !== 'pending').length
  const isOver = ['passed', 'failed', 'skipped'].includes(testModule?.state() ?? '')
  return { tests: tests.length, done, isOver }
}

/** Such as `1,240 of about 4,900 tests done, 96 of 207 files, about 2 min left`. */
export function progressLine(files: readonly Counts[], elapsedMs: number) {
  const sum = (key: 'tests' | 'done') => files.reduce((total, file) => total + file[key], 0)
  const loaded = files.filter(({ tests, isOver }) => isOver || tests > 0).length
  const over = files.filter(({ isOver }) => isOver).length
  const total = Math.round((sum('tests') / Math.max(1, loaded)) * files.length)
  const isExact = loaded === files.length
  const shown = [sum('done'), total].map((count) => count.toLocaleString('en-US'))
  const tests = `${shown.join(isExact ? ' of ' : ' of about ')} tests done`
  const left = sum('done') === 0 ? [] : [timeLeft((total / sum('done') - 1) * elapsedMs)]
  return [tests, `${over} of ${files.length} files`, ...left].join(', ')
}

function timeLeft(ms: number) {
  const seconds = Math.max(10, Math.round(ms / 10_000) * 10)
  return `about ${seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`} left`
}
