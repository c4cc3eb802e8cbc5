import { expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { fillIn } from '../../support/hostile-values.ts'
import { handlerOf, invokeAdmin } from '../../support/operator-actions.ts'
import { operatorWorld, RIGHT_PAYLOADS } from '../../support/operator-world.ts'
import { memoryDeps } from '../../support/test-deps.ts'

/** Goal: a dry run answers what the action then answers, and changes nothing. */
const ACTIONS = await Promise.all(
  MANIFEST.filter(({ trigger }) => trigger.kind === 'operator').map(
    async ({ name }) => [name, (await handlerOf(name)).hasDryRun] as const,
  ),
)

it.each(ACTIONS.filter(([, hasDryRun]) => hasDryRun))(
  'a dry run of %s changes nothing, and answers as the action',
  async (name) => {
    const deps = memoryDeps()
    const { names } = await operatorWorld(deps)
    const payload = Object(fillIn(RIGHT_PAYLOADS[name], names))
    const lines = deps.lines.length
    const before = [deps.stored.items(), deps.sent.length, deps.published.length]

    const dry = await invokeAdmin(name, deps, { ...payload, dry_run: true })

    expect([deps.stored.items(), deps.sent.length, deps.published.length]).toStrictEqual(before)
    expect(deps.lines.slice(lines)).toMatchObject([
      { code: 'operator.action', fields: { dry_run: true } },
    ])
    expect(await invokeAdmin(name, deps, { ...payload, dry_run: 'true' })).toMatchObject({
      body: { message: 'dry_run: must be boolean' },
    })
    const { status, body } = await invokeAdmin(name, deps, { ...payload, dry_run: false })
    expect([name, dry.status]).toStrictEqual([name, status])
    expect(Object.keys(dry.body)).toStrictEqual(['dry_run', ...Object.keys(body)])
  },
)

it('every action of finance has a dry run, and needs an approval, but these', () => {
  const dry = new Map(ACTIONS)
  const finance = MANIFEST.filter(({ trigger }) => Object(trigger).duty === 'finance')
  const [wet, unapproved] = [
    finance.filter(({ name }) => !dry.get(name)),
    finance.filter(({ table }) => !table.UpdateItem?.includes('APPROVAL')),
  ].map((specs) => specs.map(({ name }) => name).join(' '))

  expect(wet).toBe('payout-file payout-answer audit-ledger recount-ledger')
  // They raise nothing that leaves the house, or write it again.
  expect(unapproved).toBe('trigger-settlement mark-settlement-failed audit-ledger recount-ledger')
})

it.each(ACTIONS.filter(([, hasDryRun]) => !hasDryRun))(
  '%s refuses dry_run, because it would not be dry',
  async (name) => {
    const payload = { ...RIGHT_PAYLOADS[name], dry_run: true }

    expect(await invokeAdmin(name, memoryDeps(), payload)).toMatchObject({ status: 422 })
  },
)
