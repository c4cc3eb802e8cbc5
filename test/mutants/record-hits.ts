/** Set up before each test file while it is recorded which functions of the gateway every file executes. */
import { Session } from 'node:inspector'
import { join } from 'node:path'
import { afterAll, TestRunner } from 'vitest'
import { PROJECT_ROOT } from '../support/source-file.ts'

const CODE = ['shared/', 'functions/'].map((folder) => join(PROJECT_ROOT, folder))

declare global {
  // Test files share a process, which counts for all of them.
  var hitsSession: Session | undefined
}

const counting = (): Session => {
  if (globalThis.hitsSession) return globalThis.hitsSession
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  globalThis.hitsSession = session
  return session
}

/** The functions that this process has executed since it was asked last, as `path#function`. */
const takeHits = (): readonly string[] => {
  const hits = new Set<string>()
  counting().post('Profiler.takePreciseCoverage', (_, { result }) => {
    for (const { url, functions } of result) {
      const path = url.replace(/^file:\/\//, '')
      if (!CODE.some((folder) => path.startsWith(folder))) continue
      for (const { functionName, ranges } of functions) {
        if (ranges.some(({ count }) => count > 0)) hits.add(`${path.slice(PROJECT_ROOT.length + 1)}#${functionName}`)
      }
    }
  })
  return [...hits]
}

const { file } = TestRunner.getCurrentSuite()

takeHits()

afterAll(() => {
  if (file) Object.assign(file.meta, { hits: takeHits() })
})
