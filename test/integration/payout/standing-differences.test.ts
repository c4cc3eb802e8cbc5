/** Goal: a standing difference refuses payouts until it is gone, also when there are many others. */
import { describe, expect, it } from 'vitest'
import { changeClientVerdict, noteFound, readClientVerdict } from '../../../shared/verdict/client-verdict-store.ts'
import { OPERATOR } from '../../support/operator-actions.ts'
import { anAudited } from './recorded-settlement.ts'

describe('differences that stand on a client', () => {
  it('include one that follows a hundred others, accepted or not', async () => {
    const { deps, client, pay } = await anAudited()
    const { clientId } = client
    const differences = Array.from({ length: 101 }, (_, at) => ({
      what: 'payment.net_minor',
      id: `${at}`,
      expected: 0,
      found: 1,
    }))
    const [one, ...others] = differences
    await noteFound(deps, clientId, new Map([['payments 1', others]]), undefined)
    await noteFound(deps, clientId, new Map([['payments 2', differences.slice(0, 1)]]), undefined)
    const repaired = await noteFound(deps, clientId, new Map([['payments 1', []]]), undefined)

    await noteFound(
      deps,
      clientId,
      new Map([
        ['payments 1', others],
        ['payments 2', []],
      ]),
      undefined,
    )
    const before = await readClientVerdict(deps, clientId)
    const accepted = others.map((each) => ({ ...each, operator: OPERATOR, notes: 'x', at: deps.now() }))
    await deps.table.write(changeClientVerdict(clientId, before, { ...before, accepted }))
    const found = await noteFound(deps, clientId, new Map([['payments 2', differences.slice(0, 1)]]), undefined)

    expect([repaired, found]).toMatchObject([[one], [one]])
    expect(await pay()).toMatchObject({ status: 422 })
  })
})
