import { describe, expect, it } from 'vitest'
import { firstWindowStart } from '../../../shared/client/client.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aDayLater, aSucceededPayment, sweep, withFloor } from '../../support/settlement-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

describe('the settlement floor (spec 3.2, rule 3)', () => {
  it('keeps a net equal to the floor pending, and settles one rupiah more', async () => {
    const deps = testDeps()
    const equal = await withFloor(deps, 95_900)
    const above = await withFloor(deps, 95_899)
    for (const client of [equal, above]) await aSucceededPayment(deps, client)
    aDayLater(deps)

    expect(await sweep(deps, equal)).toStrictEqual([])
    expect(await sweep(deps, above)).toMatchObject([{ netMinor: 95_900 }])

    expect(await ledgerView(deps, equal.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    await expectBalanced(deps, equal.clientId)
    await expectBalanced(deps, above.clientId)
  })

  it('looks at what stayed below it again at the next run, from the same start', async () => {
    const deps = testDeps()
    const client = await withFloor(deps, 95_900)
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    expect(await sweep(deps, client)).toStrictEqual([])
    await aSucceededPayment(deps, client, { notionalMinor: 4_006, providerFeeMinor: 4_001 })
    aDayLater(deps)

    const settlements = await sweep(deps, client)

    expect(settlements).toMatchObject([{ periodStart: firstWindowStart(client), netMinor: 95_901, paymentCount: 2 }])
    await expectBalanced(deps, client.clientId)
  })

  it('of zero still needs a net above zero, and nets below zero count against it', async () => {
    const deps = testDeps()
    const client = await withFloor(deps, 0)
    await aSucceededPayment(deps, client, { notionalMinor: 1_000, providerFeeMinor: 4_000 })
    aDayLater(deps)
    expect(await sweep(deps, client)).toStrictEqual([])
    await aSucceededPayment(deps, client, { notionalMinor: 7_007, providerFeeMinor: 4_000 })
    aDayLater(deps)
    // -3,001 and 3,000: still below zero.
    expect(await sweep(deps, client)).toStrictEqual([])
    await aSucceededPayment(deps, client, { notionalMinor: 4_006, providerFeeMinor: 4_000 })
    aDayLater(deps)

    const settlements = await sweep(deps, client)

    expect(settlements).toMatchObject([{ grossMinor: 12_013, netMinor: 1, paymentCount: 3 }])
    await expectBalanced(deps, client.clientId)
  })
})
