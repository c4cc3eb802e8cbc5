/** Goal: held money that was given back is not paid out again. */
import { expect } from 'vitest'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { bookSuspense } from '../../../shared/posting/house-journal.ts'
import { checkSuspenseAlert } from '../../../shared/suspense/record-suspense.ts'
import type { Suspense } from '../../../shared/suspense/suspense.ts'
import { findSuspense, writeSuspense } from '../../../shared/suspense/suspense-store.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { addMs, HOUR_MS } from '../../../shared/time.ts'
import { aHouseRow } from '../../support/money-rows.ts'
import { payFirst, TIMED_OUT } from '../../support/payment-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { aCreate, paymentTest as it } from './payment-test.ts'
import { heldMoneyItem, resolve } from './suspense-test.ts'

it.for([
  ['pending', 'callback', 'made again'],
  ['creating', 'callback', 'made again'],
  ['pending', 'due_work', 'put back'],
  ['pending', 'callback', 'put back'],
  ['pending', 'callback', 'put back', 7],
] as const)(
  'money that was given back credits no payment that a restore had lost: %s, by %s, %s, %s',
  async ([status, source, how, hoursAhead = 0]) => {
    const { deps, make, reread, paymentId } = await aCreate()
    await make()
    const { providerPaymentId } = payFirst(deps)
    const capturedAt = addMs(deps.now(), hoursAhead * HOUR_MS)
    Object.assign(deps.provider.payments.get(providerPaymentId) ?? {}, { capturedAt })
    const row = await rawItem(deps, paymentKey(paymentId))
    await deps.table.write(remove(paymentKey(paymentId), exists))
    await applyProviderNews(deps, { providerPaymentId }, source)
    const held = await findSuspense(deps, providerPaymentId)
    const own = aHouseRow(deps, deps.newId(), 95_560)
    await resolve(deps, await bookSuspense(deps, held as Suspense, own))
    if (status === 'creating') deps.provider.answer('createRequest', TIMED_OUT)
    await (how === 'put back' ? putRaw(deps, row) : make().catch(() => undefined))
    deps.clock.advance(300)

    await applyProviderNews(deps, { providerPaymentId }, source)

    expect(await reread()).toMatchObject({ status })
  },
)

it.for([
  ['unknown_reference', 'No action is needed.'],
  ['payment_foreign', 'Its row was changed: call the owner of the code.'],
] as const)(
  'a late alert of held money says that it was given back: %s',
  async (facts, { deps }) => {
    const [cause, action] = facts
    const item = { ...heldMoneyItem(deps), cause }
    await writeSuspense(deps, item)
    const own = aHouseRow(deps, deps.newId(), 4_900)
    await resolve(deps, await bookSuspense(deps, item, own))
    const { suspenseId } = item
    deps.clock.advance(60)

    const dueAt = (await dueAtOf(deps, 'alert', suspenseId)) ?? deps.now()
    await checkSuspenseAlert(deps, { suspenseId, dueAt })

    expect(deps.published.at(-1)?.message).toBe(
      `The provider received 5000 IDR that the gateway held (${cause}, payment unknown). The item is resolved as refunded_by_bank (${suspenseId}), so give nothing back. ${action}`,
    )
  },
)
