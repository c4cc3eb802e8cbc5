import { describe, expect, it } from 'vitest'
import { localLog } from '../../../infra/local/functions/local-log.ts'
import {
  onTerminal,
  printableLine,
  printableLines,
} from '../../../infra/local/terminal/printable.ts'
import { renderRefusal, renderReply } from '../../../infra/operate/admin/render-reply.ts'
import { ok, renderFindings } from '../../../infra/operate/check/finding.ts'
import { cli } from '../../support/admin-command.ts'
import { answerScript, json } from '../../support/scripted-server.ts'

function listOf(...data: readonly object[]) {
  return { data, pagination: { page: 1, per_page: 25 } }
}

describe('an answer for people', () => {
  const delivery = {
    event: 'payment.succeeded',
    client_id: 'c-1',
    url: 'https://m.example',
    status: 'scheduled',
  }
  const FIRST_ATTEMPT = { number: 1, http_status: null, error: 'timeout', response_body: null }

  it.each<[string, string, object, string]>([
    [
      'a table for a list, without columns that say nothing, with its page below',
      'some-action',
      {
        data: [
          {
            id: 'a-1',
            net_minor: 95_460,
            notes: null,
            bank: { no: '0012' },
            types: ['x', 'y'],
            parts: [{ n: 1 }],
          },
          { id: 'b-22', net_minor: -5, notes: null, bank: { no: null }, types: [], parts: [] },
        ],
        pagination: { page: 2, per_page: 25 },
      },
      `id    net_minor  bank.no  types  parts
----  ---------  -------  -----  -----
a-1       95460     0012  x, y       1
b-22         -5           none       0

page 2, 25 per page; 2 rows, net_minor 95455`,
    ],
    [
      'that more may follow a full page, of which one row cannot be read',
      'some-action',
      { data: [{ id: 'a' }], unreadable_ids: ['b'], pagination: { page: 2, per_page: 2 } },
      'id\n--\na\n\nunreadable_ids  b\n\npage 2, 2 per page; more: --page 3',
    ],
    ['a word for an empty list', 'some-action', listOf(), 'none\n\npage 1, 25 per page'],
    [
      'a list with the fields beside its rows',
      'some-action',
      { ...listOf({ id: 'a' }), complete: false },
      'id\n--\na\n\ncomplete  false\n\npage 1, 25 per page',
    ],
    [
      'an object name by name, with lists of objects as tables below',
      'some-action',
      {
        id: 'a',
        ok: true,
        bank: { name: 'BCA', no: null },
        empty: [],
        attempts: [{ number: 1, at: 'now' }],
      },
      `id         a
ok         true
bank.name  BCA
bank.no    -
empty      none

attempts
number  at
------  ---
     1  now`,
    ],
    [
      'how many attempts a delivery had, and how the last attempt ended',
      'list-deliveries',
      listOf(
        {
          delivery_id: 'd-1',
          ...delivery,
          attempts: [
            FIRST_ATTEMPT,
            { number: 2, http_status: 503, error: null, response_body: 'no' },
          ],
        },
        { delivery_id: 'd-2', ...delivery, attempts: [FIRST_ATTEMPT] },
        { delivery_id: 'd-3', ...delivery, attempts: [] },
      ),
      `delivery_id  event              status     attempts  last_status  last_error
-----------  -----------------  ---------  --------  -----------  ----------
d-1          payment.succeeded  scheduled         2          503
d-2          payment.succeeded  scheduled         1               timeout
d-3          payment.succeeded  scheduled         0

page 1, 25 per page; 3 rows`,
    ],
  ])('shows %s', (_, action, body, shown) => {
    expect(renderReply(action, body)).toBe(shown)
  })

  it('shows the whole prefix of a key, because keys differ at its end', () => {
    const prefix = 'gk_prod_360f0af8-a04d-4f4a-91b0-6f57756ef685_9ihE'

    expect(
      renderReply('list-api-keys', listOf({ key_id: 'k-1', prefix, permissions: 'full' })),
    ).toContain(prefix)
  })

  it.each([
    ['a change of direction', 'a\u202etxt.exe', String.raw`a\u202etxt.exe`],
    ['a line of its own', 'a\nbalance  0\r', String.raw`a\u000abalance  0\u000d`],
  ])('writes %s from outside as text, in keys and in values', (_, text, shown) => {
    expect(renderReply('get-client', { name: text, [text]: 1 })).toBe(
      renderReply('get-client', { name: shown, [shown]: 1 }),
    )
    expect(renderReply('list-clients', listOf({ name: text }))).toContain(`\n${shown}\n`)
    expect(renderReply('x', listOf({ [text]: text }))).toMatch(
      new RegExp(String.raw`^[^\p{Cc}\p{Cf}]+\n-+\n[^\p{Cc}\p{Cf}]+\n\npage 1`, 'u'),
    )
    expect(
      renderRefusal('x', 'local', {
        status: 422,
        body: { message: text, code: 'c', action_hint: text },
      }),
    ).toBe(`x was refused (422 c): ${shown}\nHint: ${shown}`)
  })
})

describe('what npm run admin prints', () => {
  it('prints CSV alone, and says on the error output how to continue', async () => {
    const body = { settlement: { id: 's1' }, cursor: 'abc', csv: 'payment_id,net_minor\np1,5\n' }
    const { run } = await cli(json(200, { status: 200, body }))
    const argv = ['get-settlement-statement', 's1', '--format', 'csv']

    expect(await run(...argv)).toStrictEqual({
      code: 0,
      out: 'payment_id,net_minor\np1,5',
      err: 'More is left: continue with --cursor abc',
    })
    const asJson = await run(...argv, '--json')
    expect(JSON.parse(asJson.out)).toStrictEqual(body)
  })

  it('shows metadata with the digits of its numbers', async () => {
    const metadata =
      '{"9":{"0":-0,"1":[],"x":12345678901234567890123,"y":[1.0,1e2,null]},"10":2,"b":1}'
    const payment = `{"id":"p1","metadata":${metadata}}`
    const answered = async (status: number, ...argv: string[]) => {
      const { run } = await cli(answerScript(200, `{"status":${status},"body":${payment}}`))
      const { out, err } = await run('get-payment', 'p1', ...argv)
      return out + err
    }

    for (const status of [200, 422])
      expect((await answered(status, '--json')).replaceAll(/\s/g, '')).toBe(payment)
    expect(await answered(200)).toBe(`id            p1
metadata.9.0  -0
metadata.9.1  none
metadata.9.x  12345678901234567890123
metadata.9.y  [1.0,1e2,null]
metadata.10   2
metadata.b    1`)
  })

  it('ends with 1 when the action is refused, and says why, where and what to do on the error output', async () => {
    const body = {
      message: 'name: required',
      code: 'validation',
      field_errors: { name: ['required'], 'bank.no': ['required', 'must be text'] },
      action_hint: 'Correct the fields.',
    }
    const { run } = await cli(json(200, { status: 422, body }))

    expect(await run('create-client')).toStrictEqual({
      code: 1,
      out: '',
      err: `create-client was refused (422 validation): name: required
  name:     required
  bank.no:  required, must be text
Hint: Correct the fields.`,
    })
    const asJson = await run('create-client', '--json')
    expect({ ...asJson, err: JSON.parse(asJson.err) as unknown }).toStrictEqual({
      code: 1,
      out: '',
      err: body,
    })
  })
})

/** Every control and format character, also beyond the first plane. */
const COMMANDS = Array.from({ length: 0x110000 }, (_, code) => code)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => /[\p{Cc}\p{Cf}]/u.test(character))

const NO_COMMAND = /^[^\p{Cc}\p{Cf}]*$/u

describe('text from outside on a terminal', () => {
  it('is written without a character that could command the terminal', () => {
    expect(COMMANDS.length).toBeGreaterThan(200)
    expect(printableLine(COMMANDS.join(''))).toMatch(NO_COMMAND)
    expect(printableLine('\u001b[31m \u009b \u202e \u{e0001}')).toBe(
      String.raw`\u001b[31m \u009b \u202e \udb40\udc01`,
    )
  })

  it('keeps the lines of our own layout, and the meaning of JSON', () => {
    const value = { [COMMANDS.join('')]: COMMANDS.join('x') }

    expect(printableLines('a\nb\r\n')).toBe('a\nb\\u000d\n')
    expect(JSON.parse(printableLines(JSON.stringify(value, null, 2)))).toStrictEqual(value)
  })

  it('is made printable in every line and finding of the tools, and in the local log, which stays JSON', () => {
    const printed: string[] = []
    const io = onTerminal({ out: (text) => printed.push(text), err: (text) => printed.push(text) })

    io.out('\u001b[2J\nb')
    io.err('\u202e')

    expect(printed).toStrictEqual(['\\u001b[2J\nb', '\\u202e'])
    const finding = { ...ok('a\nb', '\u001b[2J'), todo: '\u202e' }
    expect(renderFindings([finding], { ok: 'ok', wrong: 'no', unclear: '?' })).toBe(
      String.raw`ok  a\u000ab: \u001b[2J` + '\n' + String.raw`      -> \u202e`,
    )
    const log = localLog({ nowMs: () => 0 })
    log.info('operator.action', { action: 'a\u009b2J\u202e' })
    const [line = ''] = log.lines()
    expect(line).toMatch(NO_COMMAND)
    expect(JSON.parse(line)).toMatchObject({ action: 'a\u009b2J\u202e' })
  })
})
