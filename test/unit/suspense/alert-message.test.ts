import { expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { alertMessage } from '../../../shared/suspense/alert-message.ts'
import { isMoved, SUSPENSE_CAUSES, type Suspense } from '../../../shared/suspense/suspense.ts'
import { writeSuspense } from '../../../shared/suspense/suspense-store.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { memoryDeps } from '../../support/test-deps.ts'

const deps = memoryDeps()
const SOME = { status: 'open', amountMinor: minor(1_000), createdAt: deps.now() } as const

/** As a shell reads the first command of a text. */
function argumentsIn(message: string) {
  const [, text = ''] = /resolve-suspense ((?:--\w+ (?:'.*'|[^\s'.,]+) ?)+)/.exec(message) ?? []
  const words = text.matchAll(/--(\w+) (?:'((?:[^']|'\\'')*)'|([^\s']+))/g)
  return Object.fromEntries(
    [...words].map(([, name, quoted, plain]) => [name, quoted?.replaceAll(`'\\''`, "'") ?? plain]),
  )
}

it.each([
  ...SUSPENSE_CAUSES.finding
    .filter((cause) => !isMoved({ cause }))
    .map((cause) => ['finding', cause, `disputes of 'x'#${cause}`] as const),
  ...SUSPENSE_CAUSES.money.map((cause) => ['money', cause, `py-${cause}`] as const),
  ['case', 'dispute', 'dispute of py-1'] as const,
])(
  'the alert of a %s (%s) has a command that can be pasted and resolves it',
  async (kind, cause, suspenseId) => {
    const item: Suspense = { ...SOME, kind, cause, suspenseId }
    await writeSuspense(deps, item)

    const told = await alertMessage(deps, item, undefined)
    const asked = argumentsIn(told)
    if (cause === 'transaction_unexplained') expect(told).toContain('1000 IDR')

    const resolution = kind === 'money' ? 'written_off' : expect.anything()
    expect(asked).toMatchObject({ suspense_id: suspenseId, resolution })
    const { status, body } = await invokeAdmin('resolve-suspense', deps, {
      operator: 'ayu',
      ...asked,
    })
    const message = expect.stringContaining('has not settled this money yet')
    const outcome = kind === 'money' ? [422, { message }] : [200, { status: 'resolved' }]
    expect([status, body]).toMatchObject(outcome)
  },
)

it('a refund by our bank is told as our own', async () => {
  const cause = 'money_went_back'
  const told = (suspenseId: string) =>
    alertMessage(deps, { ...SOME, kind: 'finding', cause, suspenseId }, undefined)

  expect(await told('bank:RF1#refund#money_went_back')).toContain('Our bank refunded money')
  expect(await told('tx-1#refund#money_went_back')).toContain('The provider took back money')
})
