/** Goal: a standing difference refuses payouts until it is gone, also when there are many others. */
import { describe, expect, it } from 'vitest'
import { changeClientVerdict, noteFound, readClientVerdict } from '../../../shared/verdict/client-verdict-store.ts'
import type { Difference } from '../../../shared/verdict/difference.ts'
import { OPERATOR } from '../../support/operator-actions.ts'
import { anAudited } from './recorded-settlement.ts'

describe('differences that stand on a client', () => {
  it('include one that follows a hundred others, accepted or not', async () => {
    const { deps, client, pay } = await anAudited()
    const { clientId } = client
    const differenceOf = (id: number) => ({ what: 'payment.net_minor', id: `${id}`, expected: 0, found: 1 })
    const [one, others] = [differenceOf(0), Array.from({ length: 100 }, (_, at) => differenceOf(at + 1))]
    const note = (part: string, differences: readonly Difference[]) =>
      noteFound(deps, clientId, new Map([[part, differences]]), undefined)
    await note('payments 1', others)
    await note('payments 2', [one])
    const repaired = await note('payments 1', [])

    await note('payments 1', others)
    await note('payments 2', [])
    const before = await readClientVerdict(deps, clientId)
    const accepted = others.map((each) => ({ ...each, operator: OPERATOR, notes: 'x', at: deps.now() }))
    await deps.table.write(changeClientVerdict(clientId, before, { ...before, accepted }))
    const found = await note('payments 2', [one])

    expect([repaired, found]).toMatchObject([[one], [one]])
    expect(await pay()).toMatchObject({ status: 422 })
  })
})
