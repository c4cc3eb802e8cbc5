/** Goal: a second approval of the same figures replaces the first one, and ends nothing unseen. */
import { describe, expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { shardKey } from '../../../shared/table/keys.ts'
import { unacceptedDifferences } from '../../../shared/verdict/acceptances.ts'
import { invokeAdmin, invokeWhole, OPERATOR, withClient } from '../../support/operator-actions.ts'
import { standingOf } from '../../support/settlement-builders.ts'
import { alter } from '../../support/tampering.ts'
import { beforeCommit } from '../../support/test-deps.ts'
import { aCorrection, approve } from './approved-for.ts'

async function anApprovedCorrection() {
  const correction = await aCorrection()
  await approve(correction.deps, correction.asked)
  return correction
}

describe('a second approval of the same figures', () => {
  it.for([{ until: 'x' }, { at: 'x' }, { at: undefined }])(
    'replaces one that cannot be read for %o, by which no action runs',
    async (changes) => {
      const { deps, asked, key, adjust } = await anApprovedCorrection()
      await alter(deps, key, changes)
      expect(await adjust()).toMatchObject({ status: 422 })

      expect(await approve(deps, asked)).toMatchObject({ status: 200 })

      expect(await adjust()).toMatchObject({ status: 200 })
    },
  )

  it('is refused while an action uses the first one', async () => {
    const { deps, asked, key, adjust } = await anApprovedCorrection()
    const raced = beforeCommit(deps, () => adjust())

    expect(await approve(raced, asked)).toMatchObject({ status: 409 })
    expect(await deps.table.get(key)).toMatchObject({ usedAt: deps.now() })
  })

  it('is refused while the difference is accepted by the first one, and ends no acceptance', async () => {
    const { deps, clientId } = await withClient()
    const credit = async (credited_minor: number) => {
      await alter(deps, shardKey(clientId, 3), { credited_minor, credited_at: deps.now() })
      return auditLedger(deps, clientId)
    }
    const { differences } = await credit(7)
    const figures = { client_id: clientId, ...differences[0] }
    const asked = { action: 'accept-difference', payload: figures } as const
    const input = { operator: OPERATOR, ...figures, notes: 'known' }
    expect(await invokeAdmin('accept-difference', deps, input)).toMatchObject({ status: 200 })
    const open = async () => {
      const standing = await standingOf(deps, { clientId })
      return unacceptedDifferences(deps, clientId, standing)
    }

    expect(await approve(deps, asked)).toMatchObject({
      status: 422,
      body: { message: 'this difference is accepted already' },
    })

    expect(await open()).toStrictEqual([])
    // A difference that was repaired and came back needs an acceptance of its own.
    await credit(0)
    await credit(7)
    expect(await open()).toHaveLength(1)
    expect(await approve(deps, asked)).toMatchObject({ status: 200 })
    expect(await invokeWhole('accept-difference', deps, input)).toMatchObject({ status: 200 })
    expect(await open()).toStrictEqual([])
  })
})
