import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { actionNamed, LISTED_ACTIONS } from '../../../infra/operate/admin/listed-actions.ts'
import { withCommands } from '../../../infra/operate/admin/render-reply.ts'
import { askedOf } from '../../support/admin-command.ts'

const ACTION = `(${LISTED_ACTIONS.map(({ name }) => name).join('|')})`
const OPTIONS = /(?: --\w+(?: (?:'[^']*'|[^\s'`.;,:-][^\s'`.;,:]*))?)+/.source
const COMMANDS = new RegExp(`(?<![\\w-]|--\\w+ )${ACTION}(${OPTIONS}| \\{)`, 'g')

/** A text with its lines joined, and 1 for each value. */
function joined(source: string): string {
  const whole = source.replace(/['`] \+\s+['`]/g, '')
  const filled = whole.replace(/\$\{[^{}]*\}/g, '1')
  return filled === whole ? whole : joined(filled)
}

function commandsIn(source: string): readonly (readonly [action: string, words: string])[] {
  return [...joined(source).matchAll(COMMANDS)].map(([, action = '', words = '']) => [
    action,
    words.trim(),
  ])
}

it('each command in a text of the gateway is one that the command line accepts', () => {
  const files = execFileSync('git', ['ls-files', 'shared/*.ts', 'functions/*.ts'], {
    encoding: 'utf8',
  })
  const commands = files
    .trim()
    .split('\n')
    .flatMap((file) => commandsIn(readFileSync(file, 'utf8')))

  const refused = commands.flatMap(([action, words]) => {
    const args = (words.match(/'[^']*'|\S+/g) ?? []).map((word) => (word === "'1'" ? '{}' : word))
    const { asked, error } = askedOf(actionNamed(action), args)
    return asked && words !== '{' ? [] : `${action} ${words}: ${error}`
  })

  expect(commands.length).toBeGreaterThan(10)
  expect(refused).toStrictEqual([])
})

it.each([
  ['Run audit-ledger. Then', 'Run npm run -s admin -- audit-ledger --stage prod. Then'],
  [
    'Run audit-ledger --client_id c1. Then',
    'Run npm run -s admin -- audit-ledger --stage prod --client_id c1. Then',
  ],
  [
    'payout-file --batch 7 gives it; payout-file --cancel 7 frees it.',
    'npm run -s admin -- payout-file --stage prod --batch 7 gives it; ' +
      'npm run -s admin -- payout-file --stage prod --cancel 7 frees it.',
  ],
  ['approves \'{"notes":"payout-file --cancel 7"}\'', undefined],
  ['get-payment shows what went back. Run payout-file again.', undefined],
])('makes of the hint %j what a person can paste', (hint, pasted = hint) => {
  expect(withCommands(hint, 'prod')).toBe(pasted)
})
