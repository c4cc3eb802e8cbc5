import { describe, expect, it } from 'vitest'
import { raiseFence } from '../../../shared/ledger/raise-fence.ts'
import { readWindow } from '../../../shared/ledger/window-store.ts'
import { present } from '../../../shared/table/condition.ts'
import { adjustmentKey, type Key } from '../../../shared/table/keys.ts'
import { remove } from '../../../shared/table/step.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import type { TestDeps } from '../../support/test-deps.ts'

import { anUnclaimedRow, aWorld, correction, entriesOf, pendingOf } from './adjusted-client.ts'

describe('adjust-ledger beside others', () => {
  it('posts after the fence that a settlement raised meanwhile', async () => {
    const { deps, clientId, adjusted } = await aWorld()
    const end = addMs(deps.now(), 5 * MINUTE_MS)
    const racing = beforeFirst(deps, 'transact', () => raiseFence(deps, clientId, end))

    const reply = await adjusted({}, racing)

    expect(reply).toMatchObject({ status: 200, body: { posted_at: end } })
    expect(await entriesOf(deps, clientId)).toMatchObject([{ postedAt: end, eligibleAt: end }])
  })

  it('gives up while the fence is raised again and again, and has written nothing', async () => {
    const { deps, clientId, adjusted } = await aWorld()
    let end = deps.now()
    const table: TestDeps['table'] = {
      ...deps.table,
      transact: async (steps, options) => {
        end = addMs(end, MINUTE_MS)
        await raiseFence(deps, clientId, end)
        return deps.table.transact(steps, options)
      },
    }

    const reply = await adjusted({}, { ...deps, table })

    expect(reply).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(await entriesOf(deps, clientId)).toStrictEqual([])
    expect(await deps.table.get(adjustmentKey(clientId, 'BANK-1'))).toBeUndefined()
  })

  it('counts two write-offs at the same moment', async () => {
    const { deps, clientId, adjusted } = await aWorld()
    const racing = beforeFirst(deps, 'transact', () => adjusted({ kind: 'written_off', reference: 'W-1' }))

    const reply = await adjusted({ kind: 'written_off', reference: 'W-2' }, racing)

    expect(reply.status).toBe(200)
    expect((await readWindow(deps, clientId)).writtenOffMinor).toBe(50_000)
    expect(await pendingOf(deps, clientId)).toBe(50_000)
  })

  it('answers the entry of another call with the same reference', async () => {
    const { deps, clientId, adjusted } = await aWorld()
    const racing = beforeFirst(deps, 'transact', () => adjusted())

    const reply = await adjusted({}, racing)

    expect(reply.status).toBe(200)
    expect(await entriesOf(deps, clientId)).toHaveLength(1)
    expect(await pendingOf(deps, clientId)).toBe(25_000)
  })

  it('asks to try again while the entry of another call is not visible yet', async () => {
    const { deps, adjusted } = await aWorld()
    await adjusted()
    const isEntry = ({ pk }: Key) => pk.startsWith('JOURNAL#')
    const get: TestDeps['table']['get'] = async (key) => (isEntry(key) ? undefined : deps.table.get(key))

    const reply = await adjusted({}, { ...deps, table: { ...deps.table, get } })

    expect(reply).toMatchObject({
      status: 409,
      body: { message: 'adjustment BANK-1 is being written right now; try again' },
    })
  })

  it('takes a row over once, for one of two corrections', async () => {
    const { deps, clientId, adjusted } = await aWorld()
    await anUnclaimedRow(deps, { rowAt: deps.now() })
    const racing = beforeFirst(deps, 'transact', () => adjusted({ ...correction, reference: 'C-1' }))

    const reply = await adjusted({ ...correction, reference: 'C-2' }, racing)

    expect(reply).toMatchObject({
      status: 409,
      body: { message: 'provider transaction txn-1 was taken over by another correction' },
    })
    expect(await entriesOf(deps, clientId)).toHaveLength(1)
  })

  it('never writes over an entry', async () => {
    const { deps, clientId, adjusted } = await aWorld()
    await adjusted()
    await deps.table.write(remove(adjustmentKey(clientId, 'BANK-1'), present('pk')))

    const reply = await adjusted({ amount_minor: 1 })

    expect(reply.status).toBe(409)
    expect(await entriesOf(deps, clientId)).toMatchObject([{ netMinor: 25_000 }])
    expect(await pendingOf(deps, clientId)).toBe(25_000)
  })
})
