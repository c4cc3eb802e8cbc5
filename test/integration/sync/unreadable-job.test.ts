import { expect } from 'vitest'
import { registerReading } from '../../../shared/sync/job-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import { syncJobKey } from '../../../shared/table/keys.ts'
import { dueWork } from '../../../shared/table/step.ts'
import { addMs, HOUR_MS } from '../../../shared/time.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { syncTest as it } from './sync-test.ts'

async function putJob(deps: TestDeps, id: string, fields: object) {
  const job = { id, from: deps.now(), to: deps.now(), ...dueWork('sync', id, deps.now()) }
  await putRaw(deps, { ...syncJobKey(id), ...toItem({ ...job, ...fields }) })
}

it.for([
  ['is of a kind of a later release', { kind: 'weekly' }],
  ['has no valid time', { kind: 'tail', dueAt: '0' }],
] as const)('a job that %s stops no other job of the run', async ([, fields], { deps }) => {
  await putJob(deps, 'odd#1', fields)
  const [id, now] = ['tail#1', deps.now()]
  const hour = { id, from: addMs(now, -HOUR_MS), to: now, category: undefined, settlesBy: now }
  await registerReading(deps, hour, { dueAt: now, maxReads: 3 })

  await syncProviderTransactions(deps)

  expect(await rawItem(deps, syncJobKey(id))).not.toHaveProperty('work')
  expect(deps.lines).toContainEqual(
    expect.objectContaining({
      level: 'error',
      code: 'row.unreadable',
      fields: expect.objectContaining({ kind: 'sync_job' }) as unknown,
    }),
  )
})

it('a job of a later release is read again when its lease has expired', async ({ deps }) => {
  await putJob(deps, 'odd#1', { kind: 'weekly' })
  await syncProviderTransactions(deps)
  const claimed = await rawItem(deps, syncJobKey('odd#1'))
  await putRaw(deps, { ...claimed, kind: 'tail' })

  deps.clock.advance(301)
  await syncProviderTransactions(deps)

  expect(await rawItem(deps, syncJobKey('odd#1'))).not.toHaveProperty('work')
})
