import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../infra/local/terminal/command-line.ts'
import { type Command, parseCommand } from '../../../infra/operate/admin/parse-command.ts'
import { fieldsOf } from '../../../infra/operate/admin/schema-fields.ts'
import { MinorSchema } from '../../../shared/money.ts'

const INPUT = v.pipe(
  v.strictObject({
    operator: v.pipe(v.string(), v.minLength(1, 'must say who asks')),
    client_id: v.string(),
    name: v.optional(v.string()),
    floor: v.optional(v.pipe(MinorSchema, v.minValue(0 as never, 'must be >= 0')), 10_000 as never),
    enabled: v.optional(v.boolean(), true),
    url: v.optional(v.nullable(v.string())),
    types: v.optional(v.array(v.picklist(['a', 'b', '*']))),
    bank: v.optional(
      v.nullable(
        v.pipe(
          v.strictObject({ name: v.string(), no: v.string() }),
          v.transform(() => 'x'),
        ),
      ),
    ),
    format: v.optional(v.picklist(['json', 'csv']), 'json'),
    kind: v.optional(v.literal('recorded')),
    page: v.pipe(v.optional(v.pipe(v.number(), v.safeInteger()), 1), v.transform(String)),
    since: v.optional(
      v.pipe(
        v.string(),
        v.check(() => true, 'must be a time'),
      ),
    ),
  }),
  v.check(() => true, 'one of two'),
)
const FIELDS = fieldsOf(INPUT)

const ONE_ID = 'one id only comes without its name, --client_id, and it is given already'
const OPTIONS = `there are ${[...FIELDS.map(({ name }) => name), 'stage', 'json', 'payload', 'help'].map((name) => `--${name}`).join(', ')}`

const parse = (args: string, operator?: string): Command =>
  parseCommand(args.split(' ').filter(Boolean), FIELDS, operator)
const payloadOf = (args: string, operator?: string) => parse(args, operator).payload

describe('the fields of an action, from its own schema', () => {
  it('are told with type, need, default and rules', () => {
    const told = FIELDS.map(({ name, type, required, byDefault }) => [name, type, required, byDefault])

    expect(told).toStrictEqual([
      ['operator', 'text', true, undefined],
      ['client_id', 'text', true, undefined],
      ['name', 'text', false, undefined],
      ['floor', 'whole number', false, '10000'],
      ['enabled', 'true or false', false, 'true'],
      ['url', 'text', false, undefined],
      ['types', 'list: one of a, b, *', false, undefined],
      ['bank', 'null', false, undefined],
      ['bank.name', 'text', false, undefined],
      ['bank.no', 'text', false, undefined],
      ['format', 'one of json, csv', false, 'json'],
      ['kind', 'recorded', false, undefined],
      ['page', 'whole number', false, '1'],
      ['since', 'text', false, undefined],
    ])
    expect(FIELDS.filter(({ rules }) => rules.length > 0).map(({ name, rules }) => [name, rules])).toStrictEqual([
      ['operator', ['must say who asks']],
      ['floor', ['must be >= 0']],
      ['since', ['must be a time']],
    ])
    expect(FIELDS.filter(({ nullable }) => nullable).map(({ name }) => name)).toStrictEqual(['url', 'bank'])
    expect(FIELDS.filter(({ withOthers }) => withOthers).map(({ name }) => name)).toStrictEqual([
      'bank.name',
      'bank.no',
    ])
  })
})

describe('a command line', () => {
  it.each<[string, unknown]>([
    ['--client_id c1 --name Warung', { client_id: 'c1', name: 'Warung' }],
    ['--client-id=c1', { client_id: 'c1' }],
    ['--floor 20000', { floor: 20_000 }],
    ['--floor -5', { floor: -5 }],
    ['--floor 0012', { floor: 12 }],
    ['--floor 9007199254740991', { floor: Number.MAX_SAFE_INTEGER }],
    ['--enabled false', { enabled: false }],
    ['--enabled --name x', { enabled: true, name: 'x' }],
    ['--enabled', { enabled: true }],
    ['--url null', { url: null }],
    // The action itself judges what it alone knows.
    ['--nme null', { nme: 'null' }],
    ['--name 17', { name: '17' }],
    ['--name true', { name: 'true' }],
    ['--types a,b', { types: ['a', 'b'] }],
    ['--types a --types b', { types: ['a', 'b'] }],
    ['--types=*', { types: ['*'] }],
    ['--bank.name BCA --bank.no 0012', { bank: { name: 'BCA', no: '0012' } }],
    ['--bank null', { bank: null }],
    ['--page 2', { page: 2 }],
    ['--name=a=b', { name: 'a=b' }],
    ['--name=', { name: '' }],
    ['--name -x', { name: '-x' }],
    // The action itself refuses what it does not know.
    ['--nme x', { nme: 'x' }],
    ['--bank.nme x', { bank: { nme: 'x' } }],
    // An id needs no name.
    ['c1', { client_id: 'c1' }],
    ['--name x c1 --enabled', { name: 'x', client_id: 'c1', enabled: true }],
    ['', {}],
  ])('%s becomes %j', (args, payload) => {
    expect(payloadOf(args)).toStrictEqual(payload)
  })

  it('keeps spaces and commas of a text', () => {
    expect(parseCommand(['--name', 'PT Kopi, Satu'], FIELDS).payload).toStrictEqual({ name: 'PT Kopi, Satu' })
  })

  it('takes a whole payload instead of fields', () => {
    expect(payloadOf('--payload {"a":[1]}')).toStrictEqual({ a: [1] })
    expect(() => parse('--payload {"a":1} --name x')).toThrow(new UsageError('give --payload or fields, not both'))
  })

  it('keeps what a payload holds besides numbers as it is', () => {
    const payload = { name: '1.0', url: null, enabled: true, types: ['a', 'b'], bank: { no: '0012' }, page: -5 }

    expect(parseCommand(['--payload', JSON.stringify(payload)], FIELDS).payload).toStrictEqual(payload)
    expect(payloadOf('--payload {"__proto__":{"a":1}}')).toStrictEqual(JSON.parse('{"__proto__":{"a":1}}'))
  })

  it.each([
    ['{"floor":10000.000000000000000001}', 'floor in --payload must be a whole number, written in digits alone'],
    ['{"floor":10000.0}', 'floor in --payload must be a whole number, written in digits alone'],
    ['{"floor":1e4}', 'floor in --payload must be a whole number, written in digits alone'],
    ['{"floor":9007199254740993}', 'floor in --payload is too large: at most 9007199254740991'],
    ['{"a":{"b":[1,1.5]}}', 'a.b in --payload must be a whole number, written in digits alone'],
    ['{"floor":1,"floor":2}', '--payload: a key appears twice'],
    ['{"floor":1,"floor":1}', '--payload: a key appears twice'],
    ['{"bank":{"no":"1","n\\u006f":"2"}}', '--payload: a key appears twice'],
    ['{a}', '--payload: not well-formed JSON'],
    ['null', '--payload must be a JSON object'],
    ['[1.5]', '--payload must be a JSON object'],
    ['17', '--payload must be a JSON object'],
  ])('holds the payload %s to the rules of the fields', (text, message) => {
    expect(() => parseCommand(['--payload', text], FIELDS)).toThrow(UsageError)
    expect(() => parseCommand(['--payload', text], FIELDS)).toThrow(message)
  })

  it('says who asks when the environment does and the command does not', () => {
    expect(payloadOf('--name x', 'sari')).toStrictEqual({ name: 'x', operator: 'sari' })
    expect(payloadOf('--operator budi', 'sari')).toStrictEqual({ operator: 'budi' })
    expect(parseCommand(['--page', '1'], FIELDS.slice(1), 'sari').payload).toStrictEqual({ page: 1 })
  })

  it('reads the options of the tool itself', () => {
    expect(parse('--stage prod --json --name x')).toStrictEqual({
      stage: 'prod',
      json: true,
      help: false,
      payload: { name: 'x' },
    })
    expect(parse('')).toMatchObject({ stage: 'local', json: false, help: false })
    expect(parse('--help')).toMatchObject({ help: true })
    expect(parse('-h')).toMatchObject({ help: true })
    expect(parse('c1 --page many --help')).toMatchObject({ help: true })
  })

  it.each(['10.000', '10,000', '1.5', '1e3', '0x10', '+1', '', ' 10', '10 ', 'many', '１０'])(
    'refuses %j where a number is wanted',
    (text) => {
      expect(() => parseCommand([`--floor=${text}`], FIELDS)).toThrow(
        new UsageError('--floor must be a whole number, written in digits alone: 10000, not 10.000 or 1e4'),
      )
    },
  )

  it.each([
    ['--floor 9007199254740992', '--floor is too large: at most 9007199254740991'],
    ['--floor -9007199254740992', '--floor is too large: at most 9007199254740991'],
    ['--name a --name b', '--name is given twice'],
    ['--floor 1 --floor=1', '--floor is given twice'],
    ['--client-id c1 --client_id c1', '--client_id is given twice'],
    ['c1 --client_id c2', `unexpected argument: c1; ${ONE_ID}`],
    ['--name PT Kopi --client_id c1', `unexpected argument: Kopi; ${ONE_ID}`],
    ['c1 c2', `unexpected argument: c2; ${ONE_ID}`],
    ['c1 --enabled maybe', '--enabled is true or false, not maybe'],
    ['--enabled c1', '--enabled is true or false, not c1'],
    ['c1 --enabled=maybe', '--enabled is true or false, not maybe'],
    ['--enabled=', '--enabled is true or false, not ""'],
    ['c1 --name null', '--name cannot be null'],
    ['--name=null', '--name cannot be null'],
    ['--floor null', '--floor cannot be null'],
    ['--enabled null', '--enabled cannot be null'],
    ['--types a,null', '--types cannot be null'],
    ['--bank.name null', '--bank.name cannot be null'],
    ['null', '--client_id cannot be null'],
    ['c1 --jsn', `--jsn is no option here; ${OPTIONS}`],
    ['c1 --bank.nme --json', `--bank.nme is no option here; ${OPTIONS}`],
    ['--nme a --nme b', '--nme is given twice'],
    ['--stage prod --stage dev', '--stage is given twice'],
    ['--payload {} --payload {}', '--payload is given twice'],
    ['--json=yes', '--json takes no value'],
    ['--json=true', '--json takes no value'],
    ['--bank null --bank.name BCA', '--bank and --bank.name exclude each other'],
    ['--bank.name BCA --bank null', '--bank and --bank.… exclude each other'],
    ['--name', '--name needs a value'],
    ['--name --json', '--name needs a value'],
    ['--stage', '--stage needs a value'],
    ['--stage=', '--stage needs a value'],
    ['--payload=', '--payload needs a value'],
    ['-n x', 'unexpected argument: -n'],
  ])('refuses %s', (args, message) => {
    expect(() => parse(args)).toThrow(new UsageError(message))
  })
})
