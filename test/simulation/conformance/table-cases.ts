import { randomUUID } from 'node:crypto'
import type { Key } from '../../../shared/table/keys.ts'
import {
  all,
  any,
  type Changes,
  equals,
  exists,
  guard,
  isNew,
  put,
  remove,
  update,
  updateFields,
} from '../../../shared/table/step.ts'
import { type Asked, aKey, batch, get, transact } from './on-both.ts'

/**
 * Requests for three items, of which the first one exists, and their answers in words. Equal words
 * in a row are one.
 */
type TableCase = readonly [
  name: string,
  words: string,
  ask: (there: Key, b: Key, c: Key) => readonly Asked[],
]

export const THERE = { amount: 1, text: 'b', nothing: null, tags: new Set(['x', 'y']) }

const [TEXT_B, TEXT_C] = [equals('text', 'b'), equals('text', 'c')]
const MANY = Array.from({ length: 101 }, () => aKey())
const MAX_BYTES = 400 * 1_024

const LEFT_OUT = {
  a: [1, undefined, 2],
  b: { c: undefined, d: 1 },
  e: -0,
  f: new Set(['x', undefined]),
  g: () => 1,
}
const NO_VALUES = [new Set(), new Set([{}]), Number.NaN, 2 ** 53, -(2 ** 53), new Date(0)]
const ALL_CHANGES = {
  set: { text: 'c', made: { a: undefined, b: 1 } },
  setIfAbsent: { more: 1 },
  add: { amount: 1 },
  remove: ['nothing', 'none'],
}
const LONG = { pk: randomUUID() + 'é'.repeat(1_006), sk: 'é'.repeat(512) }
const WRONG_KEYS = [
  { pk: '', sk: 'a' },
  { pk: 'a', sk: '' },
  { pk: 1, sk: 'a' },
  { pk: 'a', sk: null },
  { pk: 'a' },
  { pk: 'x'.repeat(2_049), sk: 'a' },
  { pk: 'a', sk: 'x'.repeat(1_025) },
] as readonly Key[]

export const TABLE_CASES: readonly TableCase[] = [
  [
    'an update of fields, which returns no item',
    'applied refused',
    (a) => [
      updateFields(a, { set: { text: 'c' } }, exists),
      updateFields(a, { remove: ['text'] }, TEXT_B),
    ],
  ],
  [
    'a condition on all of nothing',
    'invalid',
    (a) => [remove(a, all()), remove(a, all(exists, any()))],
  ],
  updates(
    'one attribute twice',
    { set: { amount: 1 }, remove: ['amount'] },
    { set: { a: 1 }, add: { a: 1 } },
  ),
  updates('one attribute under both of its names', { set: { dueAt: 't', due_at: 't' } }),
  updates('the key', { set: { pk: 'x' } }, { remove: ['sk'] }),
  updates('nothing', {}, { set: { text: undefined } }),
  [
    'an update that its condition refuses and that is impossible',
    'refused',
    (a) => [update(a, { add: { text: 1 } }, TEXT_C)],
  ],
  [
    'transactions that name one item twice',
    'invalid',
    (a) => [
      transact(put(a, {}), update(a, ALL_CHANGES)),
      transact(guard(a, exists), remove(a, exists)),
    ],
  ],
  [
    'transactions of none, of 100 and of 101 steps',
    'invalid applied invalid',
    () =>
      [0, 100, 101].map((count) => transact(...MANY.slice(0, count).map((key) => put(key, {})))),
  ],
  [
    'a transaction with an impossible update',
    'invalid',
    (a, b) => [transact(put(b, {}), update(a, { add: { text: 1 } }))],
  ],
  [
    'transactions with two wrong index keys, of which the first decides',
    'refused invalid',
    (_, b, c) =>
      [
        { owner: 5, status: '' },
        { owner: '', status: 5 },
      ].map((item) => transact(put(b, item), guard(c, exists))),
  ],
  puts(
    'index keys as long as they may be together',
    'applied invalid',
    indexKeys(48, 24),
    indexKeys(49, 24),
    indexKeys(48, 25),
  ),
  puts('what the client leaves out', 'applied', LEFT_OUT),
  puts('what the client refuses', 'not sent', ...NO_VALUES.map((value) => ({ value }))),
  puts('empty names', 'invalid', { '': 1 }, { map: [{ '': 1 }] }),
  updates('empty names', { set: { value: [{ '': 1 }] } }),
  puts(
    '400 KB and of one byte more',
    'applied invalid',
    fieldsOfSize(MAX_BYTES),
    fieldsOfSize(MAX_BYTES + 1),
  ),
  [
    'what is too large in a put before its condition, in an update after it',
    'invalid applied refused invalid',
    (a, b) => [
      put(a, fieldsOfSize(MAX_BYTES + 1), isNew),
      put(b, fieldsOfSize(MAX_BYTES)),
      ...[isNew, exists].map((condition) => update(b, { set: { more: 1 } }, condition)),
    ],
  ],
  [
    'what is no key',
    'invalid',
    () =>
      WRONG_KEYS.flatMap((key) => [
        put(key, {}),
        update(key, ALL_CHANGES),
        remove(key, exists),
        get(key),
        batch(key),
      ]),
  ],
  [
    'a key as long as it may be',
    'applied found invalid',
    () => [put(LONG, {}), get(LONG), get({ ...LONG, sk: `${LONG.sk}x` })],
  ],
  [
    'a batch of some fields, one of which is absent',
    'applied found',
    (a, b) => [
      put(a, { text: 'a', other: 1 }),
      put(b, { other: 2 }),
      { ...batch(a, b), fields: ['pk', 'sk', 'text'] },
    ],
  ],
  [
    'a batch of no key, of one twice, of too many',
    'invalid',
    (a, b) => [batch(), batch(a, b, a), batch(...MANY)],
  ],
]

function updates(name: string, ...asked: readonly Changes[]): TableCase {
  return [
    `an update of ${name}`,
    'invalid',
    (there) => asked.map((changes) => update(there, changes)),
  ]
}

function puts(name: string, words: string, ...items: readonly object[]): TableCase {
  return [`a put of ${name}`, words, (_, b) => items.map((item) => put(b, item))]
}

function indexKeys(entityBytes: number, idBytes: number) {
  return {
    owner: 'x'.repeat(2_000),
    entity: 'x'.repeat(entityBytes),
    listedAt: 'x'.repeat(1_000),
    id: 'x'.repeat(idBytes),
  }
}

function fieldsOfSize(bytes: number) {
  return { data: 'x'.repeat(bytes - Buffer.byteLength(`pksk${aKey().pk}ITEMdata`)) }
}
