/**
 * Runs before each test file while the functions of the gateway that each file executes are
 * recorded.
 */
import { Session } from 'node:inspector'
import { join } from 'node:path'
import { afterAll, TestRunner } from 'vitest'
import { PROJECT_ROOT } from '../support/source-file.ts'

const CODE = ['shared/', 'functions/'].map((folder) => join(PROJECT_ROOT, folder))

declare global {
  // Test files share a process, which counts for all of them.
  var hitsSession: Session | undefined
}

if (!globalThis.hitsSession) {
  globalThis.hitsSession = new Session()
  globalThis.hitsSession.connect()
  globalThis.hitsSession.post('Profiler.enable')
  globalThis.hitsSession.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
}

const { file } = TestRunner.getCurrentSuite()

takeHits()

afterAll(() => {
  if (file) Object.assign(file.meta, { hits: takeHits() })
})

function takeHits() {
  const hits = new Set<string>()
  globalThis.hitsSession?.post('Profiler.takePreciseCoverage', (_, { result }) => {
    for (const { url, functions } of result) {
      const path = url.replace(/^file:\/\//, '')
      if (!CODE.some((folder) => path.startsWith(folder))) continue
      for (const { functionName, ranges } of functions) {
        if (ranges.some(({ count }) => count > 0))
          hits.add(`${path.slice(PROJECT_ROOT.length + 1)}#${functionName}`)
      }
    }
  })
  return [...hits]
}
