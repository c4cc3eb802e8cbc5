import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { progressReporter } from './test/progress-reporter.ts'
import { PATIENCE_MS } from './test/support/patience.ts'
import { isNightly } from './test/support/runs.ts'

/**
 * They take ten seconds and more: begun last, one of them would run alone, with the other cores
 * idle.
 */
const LONG =
  /crash-points|random-histories|assets-run|interleavings|e2e\/(merchant|data-directory|gateway-process|console-|openapi)|audit-live|single-changes/

/** These files run at night, or when a command names one of them. */
const NIGHT_FILES = 'test/**/*.night.test.ts'
const isWithNight = isNightly || process.argv.some((word) => word.includes('.night.'))

class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => Number(LONG.test(b.moduleId)) - Number(LONG.test(a.moduleId)))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: isWithNight ? [] : [NIGHT_FILES],
    reporters: ['default', progressReporter()],
    // One for each core and one more: end-to-end tests wait for other processes much of their time.
    maxWorkers: availableParallelism() + 1,
    // Files share their worker's modules, which took a third of the time to load: what a file
    // replaces it puts back.
    isolate: false,
    sequence: { sequencer: LongFilesFirst },
    // These limits only end what hangs. They are no promise of speed, so that no test fails on a
    // slow or busy machine. No test sets its own limit.
    expect: { poll: { timeout: PATIENCE_MS } },
    testTimeout: 900_000,
    hookTimeout: 600_000,
    teardownTimeout: 60_000,
    retry: 0,
    // A file that leaves fake timers behind would stop the clock of the files after it.
    setupFiles: ['test/real-timers.ts'],
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
})
