/** Disputes beside one another, beside an erasure, and that begin again (design section 14). */
import { expect } from 'vitest'
import type { Alert } from '../../../shared/deps.ts'
import { eraseFromPayment } from '../../../shared/inquiry/erase-store.ts'
import { resolveSuspense } from '../../../shared/posting/resolve-suspense.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { interceptTable, type TestDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { syncTest as it } from '../sync/sync-test.ts'
import { inDays, send } from './dispute-news.ts'

it('one without an amount and a day balances', async ({ deps, credited }) => {
  await send(deps, { id: 'mi-1', reference_id: credited.reference, amount: null })

  const { dispute } = await paymentOf(deps, credited)
  expect(dispute).toMatchObject({ caseId: 'mi-1' })
  expect(dispute).not.toHaveProperty('amountMinor')
})

it('the one that must be answered stays shown while another ends', async ({ deps, credited }) => {
  const about = { reference_id: credited.reference }
  await send(deps, { id: 'mi-1', ...about }, 'dispute.under_review')
  await send(deps, { id: 'mi-2', ...about })

  await send(deps, { id: 'mi-1', ...about }, 'dispute.won')

  expect((await paymentOf(deps, credited)).dispute).toMatchObject({ caseId: 'mi-2' })
  expect(await findSuspense(deps, 'mi-1')).toMatchObject({ state: 'won', status: 'resolved' })
})

it('one that must be answered again is open again', async ({ deps, credited }) => {
  const about = { id: 'mi-1', reference_id: credited.reference, updated_at: deps.now() }
  await send(deps, about)
  const closed = { suspenseId: 'mi-1', operator: 'ana', resolution: 'answered' } as const
  await resolveSuspense(deps, { ...closed, notes: undefined })
  await send(deps, about, 'dispute.under_review')
  expect(await findSuspense(deps, 'mi-1')).toMatchObject({ status: 'resolved' })

  await send(deps, { ...about, updated_at: addedDay(deps) })

  const item = await findSuspense(deps, 'mi-1')
  expect(item).toMatchObject({ status: 'open', state: 'action_required' })
  expect(item).not.toHaveProperty('resolution')
})

it('one that is open again while its end is told keeps its reminders', async ({
  deps,
  credited,
}) => {
  const about = { id: 'mi-1', reference_id: credited.reference, due_date: inDays(deps, 7) }
  await send(deps, { ...about, updated_at: deps.now() })
  const news = { ...about, updated_at: addMs(deps.now(), 2_000) }
  let isTold = false
  const busy = {
    ...deps,
    alerts: {
      publish: async (alert: Alert) => {
        if (!isTold) {
          isTold = true
          await send(deps, news)
        }
        await deps.alerts.publish(alert)
      },
    },
  }

  await send(busy, { ...about, updated_at: addMs(deps.now(), 1_000) }, 'dispute.won')

  expect(await findSuspense(deps, 'mi-1')).toMatchObject({ state: 'action_required' })
  expect(await dueAtOf(deps, 'alert', 'mi-1')).toBe(addMs(deps.now(), 3.5 * DAY_MS))
})

function addedDay(deps: TestDeps): string {
  deps.clock.advance(86_400)
  return deps.now()
}

it('an erasure and a dispute refuse each other’s old reading', async ({ deps, credited }) => {
  const about = { id: 'mi-1', reference_id: credited.reference }
  const before = await paymentOf(deps, credited)
  let erased = false
  const busy = interceptTable(deps, {
    before: async ({ name }) => {
      if (name !== 'transact' || erased) return
      erased = true
      await deps.table.write(eraseFromPayment(before, deps.now()))
    },
  })

  await send(busy, about)

  expect((await paymentOf(deps, credited)).dispute).toMatchObject({ caseId: 'mi-1' })
  const [event] = deps.stored.items('EVENT#').filter(({ sk }) => String(sk).includes('mi-1'))
  expect(event).toBeDefined()
  expect((await deps.table.write(eraseFromPayment(before, deps.now()))).applied).toBe(false)
})
