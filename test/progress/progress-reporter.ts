import { join } from 'node:path'
import * as v from 'valibot'
import type { Reporter, TestSpecification, Vitest } from 'vitest/node'
import { readIfPresent, writeJsonFile } from '../../infra/local/process/json-file.ts'
import { parsedJson } from '../../infra/local/process/local-http-server.ts'
import { ifValid } from '../../shared/if-valid.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { startLastLine } from './last-line.ts'
import { type FileProgress, type FileRecord, progressLine } from './progress-line.ts'

const WHOLE_RUN = 'All tests take about four minutes on two idle cores.'

const LINE_EVERY_MS = 30_000
const REWRITE_EVERY_MS = 500

/**
 * Prints how many tests are done and how long the rest takes: on a terminal in one line that is
 * rewritten in place, elsewhere in a line each half minute. It works beside every other reporter.
 */
export function progressReporter(): Reporter {
  let vitest: Vitest
  let ends: () => void = () => undefined
  return {
    onInit: (started) => {
      vitest = started
    },
    onTestRunStart: async (specifications) => {
      const isWhole = specifications.length === (await vitest.globTestSpecifications()).length
      if (isWhole) vitest.logger.log(WHOLE_RUN)
      ends = startProgress(vitest, specifications)
    },
    onTestRunEnd: () => ends(),
  }
}

/** How many tests each file had when it last ran, and how long they took. */
const RECORDS = join(PROJECT_ROOT, 'node_modules/.cache/test-files.json')

function startProgress(vitest: Vitest, specifications: readonly TestSpecification[]): () => void {
  const startedMs = performance.now()
  const before = readRecords()
  const files = () => specifications.map((specification) => fileProgress(specification, before))
  const lastLine = ownsTerminal(vitest)
    ? startLastLine(process.stdout, [process.stderr])
    : undefined
  const print = lastLine?.show ?? ((line: string) => vitest.logger.log(line))
  const show = () => {
    const elapsedMs = performance.now() - startedMs
    print(progressLine({ files: files(), elapsedMs, workers: vitest.config.maxWorkers }))
  }
  const timer = setInterval(show, lastLine ? REWRITE_EVERY_MS : LINE_EVERY_MS)
  return () => {
    clearInterval(timer)
    lastLine?.end()
    const isPartial = vitest.config.testNamePattern !== undefined
    if (!isPartial) writeJsonFile(RECORDS, { ...before, ...recordsOf(specifications) })
  }
}

type FileRecords = Readonly<Record<string, FileRecord>>

const RecordsSchema = v.record(v.string(), v.object({ tests: v.number(), ms: v.number() }))

function readRecords(): FileRecords {
  return ifValid(RecordsSchema, parsedJson(readIfPresent(RECORDS) ?? '')) ?? {}
}

function fileProgress(specification: TestSpecification, before: FileRecords): FileProgress {
  const { testModule } = specification
  const tests = [...(testModule?.children.allTests() ?? [])]
  const isOver = ['passed', 'failed', 'skipped'].includes(testModule?.state() ?? '')
  return {
    tests: isOver || tests.length > 0 ? tests.length : undefined,
    done: tests.filter((test) => test.result().state !== 'pending').length,
    isOver,
    before: before[pathOf(specification)],
  }
}

function pathOf({ moduleId }: TestSpecification): string {
  return moduleId.slice(PROJECT_ROOT.length + 1)
}

/** Reporters other than these have their own lines at the end of a terminal. */
function ownsTerminal({ config }: Vitest): boolean {
  const names = config.reporters.flatMap((reporter) => (Array.isArray(reporter) ? reporter[0] : []))
  return process.stdout.isTTY && names.every((name) => name === 'default' || name === 'json')
}

function recordsOf(specifications: readonly TestSpecification[]): FileRecords {
  const passed = specifications.filter(({ testModule }) => testModule?.state() === 'passed')
  return Object.fromEntries(
    passed.map((specification) => {
      const { tests = 0 } = fileProgress(specification, {})
      return [
        pathOf(specification),
        { tests, ms: specification.testModule?.diagnostic().duration ?? 0 },
      ]
    }),
  )
}
