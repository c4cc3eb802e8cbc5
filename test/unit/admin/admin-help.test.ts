import { describe, expect, it } from 'vitest'
import { ACTIONS, describedAction } from '../../../infra/operate/admin/action.ts'
import { runAdmin } from '../../../infra/operate/admin/run-admin.ts'
import { fieldsOf } from '../../../infra/operate/admin/schema-fields.ts'

/** What it prints where it asks nobody. */
const helpOf = async (...argv: string[]): Promise<string> => {
  const out: string[] = []
  const err: string[] = []
  const io = { out: (text: string) => out.push(text), err: (text: string) => err.push(text), env: { PORT: 'none' } }

  expect({ code: await runAdmin(argv, io), err }).toStrictEqual({ code: 0, err: [] })
  return out.join('\n')
}

describe('the help of npm run admin', () => {
  it.each([
    ['--help', 'Actions of support:'],
    ['-h', 'Actions of support:'],
    ['get-client --help', '--client_id <text>  required'],
    ['get-client -h', '--client_id <text>  required'],
    ['list-clients c1 --page many --help', '--page <whole number>'],
    ['create-client --name --help', '--name <text>'],
  ])('is all that %s does', async (argv, text) => {
    const out = await helpOf(...argv.split(' '))

    expect(out).toContain(text)
    expect(out).toContain('Exit code: 0 done, 1 refused or failed, 2 called wrongly.')
  })

  it('names every action with the first sentence of its handler, and for it alone all of them and every field', async () => {
    const all = (await helpOf('--help')).replace(/\s+/g, ' ')

    expect(ACTIONS.length).toBeGreaterThan(25)
    for (const spec of ACTIONS) {
      const { summary, input } = await describedAction(spec)
      const [sentence = ''] = summary.split(/(?<=\.)\s/)
      const fields = input ? fieldsOf(input).map(({ name }) => name) : []
      const help = await helpOf(spec.name, '--help')

      expect(sentence.length).toBeGreaterThan(10)
      expect(all).toContain(` ${spec.name} ${sentence}`)
      expect(help.replace(/\s+/g, ' ')).toContain(summary)
      expect([spec.name, [...help.matchAll(/^ {2}--(\S+)/gm)].map(([, name]) => name)]).toStrictEqual([
        spec.name,
        [...fields, 'stage', 'json', ...(input ? ['payload'] : [])],
      ])
      expect([spec.name, fields.length > 0]).toStrictEqual([spec.name, spec.trigger.kind === 'operator'])
    }
  })

  it('shows type, need, default and rules of each field', async () => {
    expect(await helpOf('create-client', '--help')).toContain(`Usage: npm run admin -- create-client [options]

Registers a merchant. It can take payments as soon as a key is issued; a floor
left out is the default one.

Fields:
  --operator <text>                        required; must say who asks for the change; at most 100 characters
  --name <text>                            required; must not be empty; at most 255 characters
  --enabled [true|false]                   default true
  --settlement_floor_minor <whole number>  default 10000; must be >= 0
  --bank <null>                            null clears it
  --bank.bank_name <text>                  with the others; must not be empty; at most 255 characters
  --bank.bank_account_no <text>            with the others; must not be empty; at most 255 characters
  --bank.bank_account_name <text>          with the others; must not be empty; at most 255 characters
  --return_url <text>                      null clears it; at most 2048 characters; must be an https URL without user info
  --rate_limit_per_second <whole number>   null clears it; must be an integer; must be at least 1; must be at most 10000
`)
  })

  it.each([
    ['list-settlements', 'Together: give client_id, or status recorded for what is to be paid out over all clients.'],
    ['register-endpoint', 'repeat it, or separate with commas'],
    ['get-settlement-statement', 'default json; one of json, csv'],
    ['get-payment', 'Usage: npm run admin -- get-payment [options] [payment_id]'],
  ])('shows what holds between fields, how lists are given and which id needs no name: %s', async (action, text) => {
    expect((await helpOf(action, '--help')).replace(/\s+/g, ' ')).toContain(text)
  })
})
