import { expect, it } from 'vitest'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import {
  type Changes,
  exists,
  guard,
  isNew,
  put,
  remove,
  update,
} from '../../../shared/table/step.ts'
import { describeOnDynamoDb } from '../../support/dynamodb.ts'
import {
  type Asked,
  aKey,
  ask,
  bothTables,
  get,
  inAWord,
  onBoth,
  tallyOnBoth,
  transact,
} from './on-both.ts'
import { TABLE_CASES, THERE } from './table-cases.ts'

/**
 * Goal: the simulation's table answers as DynamoDB does. Method: the model and DynamoDB Local get
 * the same requests, and any two different answers fail. Every kind of value meets every other one.
 * The expected words and figures are the answers of both tables: they show that a case tests what
 * its name says.
 */
const VALUES = {
  text: 'b',
  longer: 'bb',
  upper: 'B',
  empty: '',
  amount: 5,
  below: -1,
  flag: true,
  nothing: null,
  list: ['b', 5, { a: 1 }],
  turned: [{ a: 1 }, 5, 'b'],
  map: { a: 1, b: { c: [null] } },
  tags: new Set(['b', 'x']),
  numbers: new Set([5, 1]),
  bytes: Uint8Array.from([1, 200]),
}
const FIELDS = [...Object.keys(VALUES), 'missing']
const SAME_IN_ANOTHER_ORDER = [{ b: { c: [null] }, a: 1 }, new Set(['x', 'b'])]
const OPERANDS = [
  ...Object.values(VALUES),
  ...SAME_IN_ANOTHER_ORDER,
  { a: 1 },
  new Set(['b']),
  Uint8Array.from([1, 3]),
  new Uint8Array(),
  undefined,
]

const describe = await describeOnDynamoDb()

describe('every value', () => {
  it('is compared with every other', async () => {
    const key = aKey()
    await onBoth([put(key, VALUES)])
    const tests = ['equals', 'atMost', 'below', 'above'] as const
    const conditions = tests.flatMap((test) =>
      OPERANDS.map((value) => (field: string) => ({ test, field, value })),
    )
    const there = conditions.map((of) =>
      FIELDS.map((field) => update(key, { remove: ['none'] }, of(field))),
    )
    const notThere = conditions.map((of) => [remove(aKey(), of('missing'))])

    expect(await tallyOnBoth(there)).toStrictEqual({ applied: 46, refused: 659, invalid: 555 })
    expect(await tallyOnBoth(notThere)).toStrictEqual({ refused: 47, invalid: 37 })
  })

  it('is changed by every operand', async () => {
    const sequences = (['set', 'setIfAbsent', 'add'] as const).flatMap((how) =>
      OPERANDS.map((operand): readonly Asked[] => {
        const key = aKey()
        const changesOf = (field: string): Changes => ({ [how]: { [field]: operand } })
        return [put(key, VALUES), ...FIELDS.map((field) => update(key, changesOf(field))), get(key)]
      }),
    )

    expect(await tallyOnBoth(sequences)).toStrictEqual({ applied: 677, found: 63, invalid: 331 })
  })

  it('is accepted or refused as an index key, in any put and in an update that its condition allows', async () => {
    const attributes = Object.keys(TABLE_SCHEMA.attributeTypes).filter(
      (name) => name !== 'pk' && name !== 'sk',
    )
    const values = [
      '',
      'a',
      5,
      null,
      true,
      ['a'],
      new Set(['a']),
      'x'.repeat(1_025),
      'x'.repeat(2_049),
    ]
    const sequences = attributes.flatMap((attribute) =>
      values.map((value) => {
        const [a, b, c] = [aKey(), aKey(), aKey()]
        const item = { [attribute]: value }
        return [
          put(a, item, exists),
          update(b, { set: item }, exists),
          transact(put(a, item), guard(b, exists)),
          transact(put(a, item), put(c, {})),
          put(a, item),
          update(b, { set: item }, isNew),
          ...[a, b, c].map(get),
        ]
      }),
    )

    expect(await tallyOnBoth(sequences)).toStrictEqual({
      applied: 39,
      found: 39,
      invalid: 328,
      nothing: 204,
      refused: 119,
    })
  })
})

describe('the model and DynamoDB Local agree on', () => {
  it.each(TABLE_CASES)('%s: %s', async (_, words, asked) => {
    const keys = [aKey(), aKey(), aKey()] as const
    const answers = await onBoth([put(keys[0], THERE), ...asked(...keys), ...keys.map(get)])

    const said = answers.slice(1, -keys.length).map(inAWord)
    expect(said.filter((word, at) => word !== said[at - 1]).join(' ')).toBe(words)
  })
})

describe('values', () => {
  it('come back unchanged, and share no object with the caller', async () => {
    const [key, { model }] = [aKey(), bothTables()]
    const original = () => ({
      texts: ['', 'é', '😀', 'line\nbreak "quoted"', 'half of a pair: \ud800'],
      numbers: [0, -1, 1.5, 1e-7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1_200],
      others: [true, false, null, [], {}, [[], {}]],
      map: { a: [{ b: [1, null, new Set(['in'])] }] },
      tags: new Set(['x', 'y']),
      fractions: new Set([1, -1, 0.5]),
    })
    const change = (item: ReturnType<typeof original>) => {
      item.texts.push('more')
      item.map.a[0]?.b.push(2)
      item.tags.add('z')
    }
    const item = original()
    await onBoth([put(key, item)])
    change(item)
    const [read] = [await ask(model, get(key))]
    expect(read).toStrictEqual({ ...original(), ...key })
    change(read as typeof item)

    expect(await onBoth([get(key)])).toStrictEqual([{ ...original(), ...key }])
  })
})
