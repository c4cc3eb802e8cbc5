import { describe, expect, it } from 'vitest'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { ACTIONS, describedAction, findAction, firstSentence } from '../../../infra/operate/admin/action.ts'
import { actionHelp, overallHelp } from '../../../infra/operate/admin/help-text.ts'
import { fieldsOf } from '../../../infra/operate/admin/schema-fields.ts'

const actionCalled = (name: string): FunctionSpec => {
  const spec = findAction(name)
  if (spec === undefined) throw new Error(`there is no action ${name}`)
  return spec
}

const helpOf = async (name: string) => actionHelp(actionCalled(name), await describedAction(actionCalled(name)))

describe('the help of the operators’ tool', () => {
  it('names everything an operator can start, with a sentence each', async () => {
    const help = await overallHelp()
    const summaries = await Promise.all(
      ACTIONS.map(async (spec) => [spec.name, firstSentence((await describedAction(spec)).summary)] as const),
    )

    expect(ACTIONS.length).toBeGreaterThan(25)
    for (const [name, summary] of summaries) {
      expect([name, summary.length > 10 && summary.endsWith('.')]).toStrictEqual([name, true])
      expect(help).toMatch(
        new RegExp(`^  ${name} +${summary.slice(0, 20).replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`, 'm'),
      )
    }
    expect(help).toContain('sync-provider-transactions')
    expect(help).not.toContain('api-create-payment')
  })

  it('takes the words from the handler: its first sentence in the list, all of them for the action alone', async () => {
    const { summary } = await describedAction(actionCalled('mark-settlement-paid'))

    expect(summary).toBe(
      'Records that the bank transfer was made. Once; refused while the provider still owes us some of it, unless confirmed.',
    )
    expect(firstSentence(summary)).toBe('Records that the bank transfer was made.')
    expect(await helpOf('mark-settlement-paid')).toContain(summary)
  })

  it('shows the fields of every action, from the schema it parses with', async () => {
    for (const spec of ACTIONS.filter(({ trigger }) => trigger.kind === 'operator')) {
      const { input } = await describedAction(spec)
      expect([spec.name, input !== undefined && fieldsOf(input).length > 0]).toStrictEqual([spec.name, true])
    }
  })

  it('shows type, need, default and rules of each field', async () => {
    expect(await helpOf('create-client')).toBe(`npm run admin -- create-client [--field value]… [--stage NAME] [--json]

Registers a merchant. It can take payments as soon as a key is issued; a floor left out is the default one.

Fields
  --operator                text                               required         must say who asks for the change; at most 100 characters
  --name                    text                               required         must not be empty; at most 255 characters
  --enabled                 true or false                      default true
  --settlement_floor_minor  whole number                       default 10000    must be >= 0
  --bank                    null clears it
  --bank.bank_name          text                               with the others  must not be empty; at most 255 characters
  --bank.bank_account_no    text                               with the others  must not be empty; at most 255 characters
  --bank.bank_account_name  text                               with the others  must not be empty; at most 255 characters
  --return_url              text, or null to clear it                           at most 2048 characters; must be an https URL without user info
  --rate_limit_per_second   whole number, or null to clear it                   must be an integer; must be at least 1; must be at most 10000

Exit code: 0 done, 1 refused or failed, 2 called wrongly.`)
  })

  it('shows what holds between fields, and how lists are given', async () => {
    expect(await helpOf('list-settlements')).toContain(
      'Together: give client_id, or status recorded for what is to be paid out over all clients.',
    )
    expect(await helpOf('register-endpoint')).toContain('Lists: repeat the field, or separate with commas.')
    expect(await helpOf('get-settlement-statement')).toContain('one of json, csv  default json')
  })

  it('shows that an id may come without its name', async () => {
    expect(await helpOf('get-payment')).toContain('npm run admin -- get-payment [PAYMENT_ID] [--field value]…')
  })

  it('shows no fields for scheduled work', async () => {
    expect(await helpOf('sync-provider-transactions')).not.toContain('Fields')
  })
})
