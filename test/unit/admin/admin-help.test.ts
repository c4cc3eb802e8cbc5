import { describe, expect, it } from 'vitest'
import { ACTIONS, describedAction } from '../../../infra/operate/admin/action.ts'
import { runAdmin } from '../../../infra/operate/admin/run-admin.ts'
import { fieldsOf } from '../../../infra/operate/admin/schema-fields.ts'

/** What it prints where it asks no function. */
const helpOf = async (...argv: string[]): Promise<string> => {
  const out: string[] = []
  const err: string[] = []
  const io = { out: (text: string) => out.push(text), err: (text: string) => err.push(text), env: { PORT: 'none' } }

  expect({ code: await runAdmin(argv, io), err }).toStrictEqual({ code: 0, err: [] })
  return out.join('\n')
}

describe('the help of npm run admin', () => {
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
        [
          ...fields,
          'stage',
          'json',
          ...(input ? ['payload'] : []),
          ...(spec.name === 'mark-settlement-paid' ? ['file'] : []),
          ...(spec.name === 'redeliver' ? ['all'] : []),
        ],
      ])
      expect([spec.name, fields.length > 0]).toStrictEqual([spec.name, spec.trigger.kind === 'operator'])
    }
  })

  it.each([
    ['create-client', '--operator <text> required; must name who requests the change'],
    [
      'create-client',
      '--enabled [true|false] default true --settlement_floor_minor <whole number> default 10000; must be',
    ],
    ['create-client', '--bank <null> null clears it --bank.bank_name <text> with the others; must not be empty'],
    ['list-settlements', 'Together: give client_id, status, from or to.'],
    ['register-endpoint', 'repeat it, or separate with commas'],
    ['get-settlement-statement', 'default json; one of json, csv'],
    ['get-payment', 'Usage: npm run admin -- get-payment [options] [payment_id]'],
  ])(
    'shows kind, need, default, choices and rules of fields, what holds between them, and which id needs no name: %s',
    async (action, text) => {
      expect((await helpOf(action, '--help')).replace(/\s+/g, ' ')).toContain(text)
    },
  )
})
