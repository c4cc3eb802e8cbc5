import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { ACTIONS, describeAction } from '../../../infra/operate/admin/action.ts'
import { fieldsOf, rulesOf } from '../../../infra/operate/admin/schema-fields.ts'
import { MinorSchema } from '../../../shared/money.ts'
import { askedOf, cli } from '../../support/admin-command.ts'
import { silence } from '../../support/scripted-server.ts'

const INPUT = v.strictObject({
  operator: v.string(),
  client_id: v.string(),
  name: v.optional(v.string()),
  floor: v.optional(MinorSchema),
  enabled: v.optional(v.boolean()),
  url: v.optional(v.nullable(v.string())),
  types: v.optional(v.array(v.picklist(['a', 'b', '*']))),
  bank: v.optional(v.nullable(v.strictObject({ name: v.string(), no: v.string() }))),
})
function describing(input: v.GenericSchema) {
  return { summary: 'Does it.', fields: fieldsOf(input), rules: rulesOf(input) }
}
const ACTION = describing(INPUT)

function payloadOf(args: string, operator?: string) {
  const { asked, error } = askedOf(ACTION, args.split(' ').filter(Boolean), operator)
  expect(error).toBe('')
  return asked?.payload
}
function refusalOf(...args: readonly string[]) {
  const { asked, error } = askedOf(ACTION, args)
  expect(asked).toBeUndefined()
  return error
}

describe('a command line', () => {
  it.each<[string, unknown]>([
    ['--client_id c1 --name Warung', { client_id: 'c1', name: 'Warung' }],
    ['--floor 20000', { floor: 20_000 }],
    ['--floor -5', { floor: -5 }],
    ['--enabled --name x', { enabled: true, name: 'x' }],
    ['--enabled', { enabled: true }],
    ['--url null', { url: null }],
    ['--types a,b', { types: ['a', 'b'] }],
    ['--types a --types b', { types: ['a', 'b'] }],
    ['--bank.name BCA --bank.no 0012', { bank: { name: 'BCA', no: '0012' } }],
    ['--bank null', { bank: null }],
    ['--name=a=b', { name: 'a=b' }],
    ['--name -x', { name: '-x' }],
    // The action refuses other values that do not fit its schema.
    ['--types x', { types: ['x'] }],
    ['c1', { client_id: 'c1' }],
    ['', {}],
    ...[
      '{"a":[1]}',
      '{"name":"1.0","url":null,"enabled":true,"bank":{"no":"0012"},"page":-5}',
      '{"__proto__":{"a":1}}',
    ].map((payload): [string, unknown] => [`--payload ${payload}`, JSON.parse(payload)]),
  ])('%s becomes %j', (args, payload) => {
    expect(payloadOf(args)).toStrictEqual(payload)
  })

  it('takes the operator from the environment when the command names none', () => {
    expect(payloadOf('--name x', 'sari')).toStrictEqual({ name: 'x', operator: 'sari' })
    expect(payloadOf('--operator budi', 'sari')).toStrictEqual({ operator: 'budi' })
    expect(payloadOf('--payload {"name":"x"}', 'sari')).toStrictEqual({ name: 'x' })
    const reads = describing(v.strictObject({ page: v.number() }))
    expect(askedOf(reads, ['--page', '1'], 'sari').asked?.payload).toStrictEqual({ page: 1 })
  })

  it.each(['10.000', '1e3', '0x10', '１０', '9007199254740992'])(
    'refuses %j where a number is wanted',
    (text) => {
      const rule = `${text} is not a whole number of at most 9007199254740991, in digits alone: 10000, not 10.000 or 1e4.`

      expect(refusalOf(`--floor=${text}`)).toBe(
        `option '--floor <whole number>' argument '${text}' is invalid. ${rule}`,
      )
    },
  )

  it.each([
    ['{"floor":10000.000000000000000001}', '10000.000000000000000001 is not a whole number'],
    [
      '{"floor":9007199254740993}',
      '9007199254740993 is not a whole number of at most 9007199254740991',
    ],
    ['{"a":{"b":[1,1.5]}}', '1.5 is not a whole number'],
    ['{"floor":1,"floor":2}', 'a key appears twice'],
    ['{"bank":{"no":"1","n\\u006f":"2"}}', 'a key appears twice'],
    ['{a}', 'not well-formed JSON'],
    ['null', 'It must be a JSON object.'],
  ])('holds the payload %s to the rules of the fields', (text, message) => {
    expect(refusalOf('--payload', text)).toContain(
      `option '--payload <json>' argument '${text}' is invalid. ${message}`,
    )
  })

  it.each([
    ['--name a --name b', "'--name <text>' argument 'b' is invalid. It is given twice."],
    ['c1 --client_id c2', "value 'c1' is invalid for argument 'client_id'. It is given twice."],
    [
      '--name PT Kopi --client_id c1',
      "value 'Kopi' is invalid for argument 'client_id'. It is given twice.",
    ],
    ['c1 c2', 'Expected 1 argument but got 2'],
    ['c1 --enabled maybe', "argument 'maybe' is invalid. It is true or false."],
    ['c1 --name null', "option '--name <text>' argument 'null' is invalid. It cannot be null."],
    ['--types a,null', 'It cannot be null.'],
    ['null', "value 'null' is invalid for argument 'client_id'. It cannot be null."],
    ['c1 --jsn', "unknown option '--jsn'\n(Did you mean --json?)"],
    ['c1 --bank.nme x', "unknown option '--bank.nme'\n(Did you mean --bank.name?)"],
    ['--stage prod --stage dev', 'It is given twice.'],
    ['--payload {"a":1} --name x', 'give --payload or fields, not both'],
    [
      '--bank null --bank.name BCA',
      "'--bank <null>' cannot be used with option '--bank.name <text>'",
    ],
    ['--name', "option '--name <text>' argument missing"],
    ['--name --json', "option '--name <text>' argument '--json' is invalid. It needs a value."],
    ['--name=', 'It needs a value.'],
  ])('refuses %s', (args, message) => {
    expect(refusalOf(...args.split(' '))).toContain(message)
  })
})

async function helpOf(...argv: string[]) {
  const { run } = await cli(silence, { PORT: 'none' })
  const { out, ...end } = await run(...argv)

  expect(end).toStrictEqual({ code: 0, err: '' })
  return out
}

const OWN_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  approve: ['file'],
  'payout-answer': ['file'],
  'payout-file': ['out'],
  redeliver: ['all'],
}

describe('the help of npm run admin', () => {
  it('names every action with the first sentence of its handler; the help of an action has every sentence and field', async () => {
    const all = (await helpOf('--help')).replace(/\s+/g, ' ')

    expect(ACTIONS.length).toBeGreaterThan(25)
    expect(all).toContain(' Scheduled work, started now, of deploy: ')
    for (const spec of ACTIONS) {
      const { summary, fields: described, hasDryRun } = await describeAction(spec)
      const [sentence = ''] = summary.split(/(?<=\.)\s/)
      const fields = described?.map(({ name }) => name) ?? []
      const help = await helpOf(spec.name, '--help')

      expect(sentence.length).toBeGreaterThan(10)
      expect(all).toContain(` ${spec.name} ${sentence}`)
      expect(help.replace(/\s+/g, ' ')).toContain(summary)
      const ownOptions = OWN_OPTIONS[spec.name] ?? []
      const hasPayload = described !== undefined && !fields.includes('payload')
      const options = [
        ...fields,
        'stage',
        'json',
        ...(hasPayload ? ['payload'] : []),
        ...ownOptions,
        ...(hasDryRun ? ['dry-run'] : []),
      ]
      expect([
        spec.name,
        ...[...help.matchAll(/^ {2}--(\S+)/gm)].map(([, name]) => name),
      ]).toStrictEqual([spec.name, ...options])
      expect([spec.name, fields.length > 0]).toStrictEqual([
        spec.name,
        spec.trigger.kind === 'operator',
      ])
    }
  })

  it.each([
    ['create-client', '--operator <text> required; must name who requests the change'],
    [
      'create-client',
      '--enabled [true|false] default true --settlement_floor_minor <whole number> default 10000',
    ],
    [
      'create-client',
      '--bank <null> null clears it --bank.bank_name <text> with the others; must be a bank of',
    ],
    ['list-settlements', 'Together: give client_id, status, from or to.'],
    ['register-endpoint', 'repeat it, or separate with commas'],
    ['get-settlement-statement', 'default json; one of json, csv'],
    ['get-payment', 'Usage: npm run admin -- get-payment [options] [payment_id]'],
  ])(
    'shows kind, need, default, choices and rules of fields, the rules between fields, and the id that needs no name: %s',
    async (action, text) => {
      expect((await helpOf(action, '--help')).replace(/\s+/g, ' ')).toContain(text)
    },
  )
})
