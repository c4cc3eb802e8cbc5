/** Set up before each test file while it is recorded which functions of the gateway every file executes. */
import { afterAll, TestRunner } from 'vitest'
import { takeHits } from './hits.ts'

const { file } = TestRunner.getCurrentSuite()

takeHits()

afterAll(() => {
  if (file) Object.assign(file.meta, { hits: takeHits() })
})
