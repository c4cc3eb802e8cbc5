import * as v from 'valibot'
import { expect, it } from 'vitest'
import { ifValid } from '../../shared/if-valid.ts'
import { AnyTimeSchema, parseForeignTime, TimestampSchema } from '../../shared/time.ts'

it.each([
  '2026-11-20T04:10:00Z',
  '2026-11-20T04:10:00.1234Z',
  '2026-11-20T04:10:00.123+00:00',
  '2026-11-20T04:10:00.123z',
  '2026-11-20 04:10:00.123Z',
  '+010000-01-01T00:00:00.000Z',
  '2026-11-20T04:10:00.123Z\n',
])('a Timestamp is not %j', (text) => {
  expect(v.is(TimestampSchema, text)).toBe(false)
})

it.each([
  ['2026-11-20T04:10:00Z', '2026-11-20T04:10:00.000Z'],
  ['2026-11-20T04:10:00.123456Z', '2026-11-20T04:10:00.123Z'],
  ['2026-11-20T11:10:00+07:00', '2026-11-20T04:10:00.000Z'],
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  // No time, or one that ours cannot hold or could not be moved from.
  ...[
    '',
    'soon',
    '2026-13-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '+275760-09-13T00:00:00.000Z',
    '0000-01-01T00:00:00+23:59',
    '1969-12-31T23:59:59.999Z',
    '9000-01-01T00:00:00Z',
  ].map((text) => [text, undefined]),
])('parseForeignTime reads %j as %s', (text = '', expected) => {
  expect(parseForeignTime(text)).toBe(expected)
})

it.each([
  ['2026-11-20T11:10:00+07:00', '2026-11-20T04:10:00.000Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59Z', '8999-12-31T23:59:59.999Z'],
  // No time of any day.
  ...['2026-02-29T00:00:00Z', '2026-11-20T24:00:00Z', '2026-11-20T04:60:00Z', '2026-11-20', '', 'soon'].map((text) => [
    text,
    undefined,
  ]),
])('AnyTimeSchema takes %j as %s', (text, expected) => {
  expect(ifValid(AnyTimeSchema, text)).toBe(expected)
})
