import { describe, expect } from 'vitest'
import { findUnclaimedRow } from '../../../shared/journal/house-store.ts'
import { minor } from '../../../shared/money.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { addMs, DAY_MS, HOUR_MS } from '../../../shared/time.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { findingAbout } from '../../support/synced-payment.ts'

import { heldTest as held, refundFields, sumsOf } from './held-money.ts'

describe('sync: money that stays in suspense', () => {
  held.for([{ settlesIn: DAY_MS }, { settlesIn: undefined }])(
    'the money’s own row is booked when it has settled, although the provider marks no update: %o',
    async ({ settlesIn }, { deps, rows, hold, sync }) => {
      const createdAt = deps.now()
      const settlesAt = settlesIn === undefined ? undefined : addMs(createdAt, settlesIn)
      const { heldRow, item } = await hold('unknown_reference', { ...NOT_SETTLED, settlesAt })
      // This round reads from two minutes before the end of the last round.
      await sync()
      const itemBefore = await item()
      rows.splice(
        0,
        1,
        settledRow(heldRow, heldRow.updatedAt, {
          ...heldRow,
          keptMinor: minor(4_440),
          settledAt: deps.now(),
        }),
      )

      deps.clock.set(addMs(createdAt, (settlesIn ?? 4 * DAY_MS) + 2 * HOUR_MS))
      await sync()

      expect(itemBefore).not.toHaveProperty('providerMinor')
      expect(await item()).toMatchObject({ status: 'open', providerMinor: 100_000 })
    },
  )

  held(
    'a dispute takes the disputed part, not the fee in the dispute’s row',
    async ({ deps, hold, sync }) => {
      const { heldRow, item } = await hold('unknown_reference')
      const amounts = {
        amountMinor: minor(30_000),
        disputedMinor: minor(25_000),
        providerMinor: minor(-30_000),
      }

      await sync(
        settledRow(heldRow, deps.now(), {
          ...refundFields,
          ...amounts,
          reversalKind: 'chargeback',
        }),
      )

      expect(await item()).toMatchObject({ status: 'open', refundedMinor: 25_000 })
      expect(await sumsOf(deps)).toMatchObject({ suspenseMinor: 75_000 })
    },
  )

  held.for<readonly [string, Partial<ProviderTransaction>, string, object | undefined]>([
    ['a deduction', { type: 'correction' }, 'transaction_unexplained', { type: 'unmatched' }],
    [
      'a won dispute',
      { type: 'correction', isDisputeWon: true },
      'reversed_upstream',
      { type: 'unmatched' },
    ],
    [
      'a void refund',
      { type: 'return', status: 'reversed' },
      'reversal#reversed_upstream',
      undefined,
    ],
    ['an unknown status', { status: 'unknown' }, 'transaction_unexplained', undefined],
  ])(
    '%s is a finding, and the money stays in suspense',
    async ([, fields, cause, houseEntry], { deps, hold, sync }) => {
      const { heldRow, item } = await hold('unknown_reference')
      const itemBefore = await item()
      const row = settledRow(heldRow, deps.now(), {
        ...fields,
        keptMinor: undefined,
        amountMinor: minor(25_000),
      })

      await sync(row)

      expect(await item()).toStrictEqual(itemBefore)
      expect(await findingAbout(deps, row.transactionId, cause)).toMatchObject({
        status: 'open',
        amountMinor: 25_000,
      })
      expect(await findUnclaimedRow(deps, row.transactionId)).toEqual(
        houseEntry && expect.objectContaining(houseEntry),
      )
    },
  )
})
