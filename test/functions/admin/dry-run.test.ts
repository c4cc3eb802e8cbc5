import { join } from 'node:path'
import { expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { AdminHandler } from '../../../shared/runtime/admin-handler.ts'
import { fillIn } from '../../support/hostile-values.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { operatorWorld, RIGHT_PAYLOADS } from '../../support/operator-world.ts'
import { memoryDeps } from '../../support/test-deps.ts'

/** Goal: a dry run answers what the action then answers, and changes nothing. */
const HANDLERS = await Promise.all(
  MANIFEST.filter(({ trigger }) => trigger.kind === 'operator').map(async ({ name, entry }) => {
    const module: unknown = await import(join(import.meta.dirname, '../../..', entry))
    return [name, (module as { handler: AdminHandler }).handler] as const
  }),
)

it.each(HANDLERS.filter(([, { hasDryRun }]) => hasDryRun))(
  'a dry run of %s changes nothing, and answers as the action',
  async (name, handler) => {
    const deps = memoryDeps()
    const { names } = await operatorWorld(deps)
    const payload = Object(fillIn(RIGHT_PAYLOADS[name], names))
    const lines = deps.lines.length
    const before = [deps.stored.items(), deps.sent.length, deps.published.length]

    const dry = await invokeAdmin(handler, deps, { ...payload, dry_run: true })

    expect([deps.stored.items(), deps.sent.length, deps.published.length]).toStrictEqual(before)
    expect(deps.lines.slice(lines)).toMatchObject([
      { code: 'operator.action', fields: { dry_run: true } },
    ])
    expect(await invokeAdmin(handler, deps, { ...payload, dry_run: 'true' })).toMatchObject({
      body: { message: 'dry_run: must be boolean' },
    })
    const { status, body } = await invokeAdmin(handler, deps, { ...payload, dry_run: false })
    expect([name, dry.status]).toStrictEqual([name, status])
    expect(Object.keys(dry.body)).toStrictEqual(['dry_run', ...Object.keys(body)])
  },
)

it.each(HANDLERS.filter(([, { hasDryRun }]) => !hasDryRun))(
  '%s refuses dry_run, because it would not be dry',
  async (name, handler) => {
    const payload = { ...RIGHT_PAYLOADS[name], dry_run: true }

    expect(await invokeAdmin(handler, memoryDeps(), payload)).toMatchObject({ status: 422 })
  },
)
