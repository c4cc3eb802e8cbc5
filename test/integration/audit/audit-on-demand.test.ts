/** Goal: an operator's audit of the gateway ends within its calls. */
import { expect, it } from 'vitest'
import { auditGateway, auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { GATEWAY_OWNER } from '../../../shared/table/schema.ts'
import { readVerdict } from '../../../shared/verdict/verdict-store.ts'
import { memoryDeps } from '../../support/test-deps.ts'

it('an audit on demand reads newest first, and a call with from goes on', async () => {
  const deps = memoryDeps()
  await auditGateway(deps)
  const { figuresAt } = await readVerdict(deps, GATEWAY_OWNER)
  deps.clock.advance(60)
  /** Each look at the clock costs 50 seconds. */
  const slow = () => {
    let readAt = 0
    return { ...deps, monotonicMs: () => (readAt += 50_000) }
  }

  const read: string[] = []
  let from: string | undefined
  do {
    const { balanced, next } = await auditWholeGateway(slow(), from)
    expect(balanced).toBe(next === undefined ? true : 'inconclusive')
    if (next) read.push(next)
    from = next
  } while (from !== undefined)

  const blocks = read.filter((part) => part.startsWith('house'))
  expect(blocks.length).toBeGreaterThan(2)
  expect(blocks).toStrictEqual(blocks.toSorted().toReversed())
  // No single call has read all parts.
  expect(await readVerdict(deps, GATEWAY_OWNER)).toMatchObject({ figuresAt })
})
