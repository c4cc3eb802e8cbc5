import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * They take ten seconds and more: begun last, one of them would run alone, with the other cores
 * idle.
 */
const LONG =
  /crash-points|random-histories|assets-run|interleavings|e2e\/(merchant|deliveries|gateway-process|console-page|openapi)|audit-(tampering|live)/

class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => Number(LONG.test(b.moduleId)) - Number(LONG.test(a.moduleId)))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // One for each core and one more: end-to-end tests wait for other processes much of their time.
    maxWorkers: availableParallelism() + 1,
    // Files share their worker's modules, which took a third of the time to load: what a file
    // replaces it puts back.
    isolate: false,
    sequence: { sequencer: LongFilesFirst },
    // How long a condition is waited for before it counts as failed; met ones cost nothing, on a
    // busy machine either.
    expect: { poll: { timeout: 20_000 } },
    // Fuzzing makes hundreds of runs, and a gateway starts twice, on a machine that may be busy
    // with other files.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    retry: 0,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
})
