import type { TestDeps } from '../../support/test-deps.ts'

/** The same gateway while its queues take no message. */
export const withoutQueue = (deps: TestDeps): TestDeps => ({
  ...deps,
  queues: { send: () => Promise.reject(new Error('no queue')) },
})

/** The same gateway while the operators' topic does not answer. */
export const withoutTopic = (deps: TestDeps): TestDeps => ({
  ...deps,
  alerts: { publish: () => Promise.reject(new Error('no topic')) },
})
