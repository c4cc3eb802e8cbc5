import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // A file waits for DynamoDB Local about as long as it computes: two at once keep two cores busy.
    maxWorkers: 2,
    // How long a condition is waited for before it counts as failed; met ones cost nothing, on a busy machine either.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    retry: 0,
    clearMocks: true,
  },
})
