import { describe, expect, it } from 'vitest'
import { renderRefusal, renderReply } from '../../../infra/operate/admin/render-reply.ts'

describe('an answer for people', () => {
  it('is a table for a list, without columns that say nothing, with its page below', () => {
    const body = {
      data: [
        { id: 'a-1', net_minor: 95_460, notes: null, bank: { no: '0012' }, types: ['x', 'y'], parts: [{ n: 1 }] },
        { id: 'b-22', net_minor: -5, notes: null, bank: { no: null }, types: [], parts: [] },
      ],
      pagination: { page: 2, per_page: 25 },
    }

    expect(renderReply('some-action', body)).toBe(`id    net_minor  bank.no  types  parts
----  ---------  -------  -----  -----
a-1       95460     0012  x, y       1
b-22         -5           none       0

page 2, 25 per page`)
  })

  it('says what else comes with a list', () => {
    expect(
      renderReply('some-action', { data: [{ id: 'a' }], pagination: { page: 1, per_page: 1 }, complete: false }),
    ).toBe(`id
--
a

complete  false

page 1, 1 per page`)
  })

  it('says that a list is empty', () => {
    expect(renderReply('some-action', { data: [], pagination: { page: 1, per_page: 25 } })).toBe(
      'none\n\npage 1, 25 per page',
    )
  })

  it('is name by name for an object, with lists of objects as tables below', () => {
    const body = { id: 'a', ok: true, bank: { name: 'BCA', no: null }, empty: [], attempts: [{ number: 1, at: 'now' }] }

    expect(renderReply('some-action', body)).toBe(`id         a
ok         true
bank.name  BCA
bank.no    -
empty      none

attempts
number  at
------  ---
     1  now`)
  })

  it('shows of a delivery what is looked for: how many attempts there were, and how the last one ended', () => {
    const delivery = {
      delivery_id: 'd-1',
      event: 'payment.succeeded',
      client_id: 'c-1',
      url: 'https://merchant.example/hooks',
      status: 'scheduled',
      attempts: [
        { number: 1, http_status: null, error: 'timeout', response_body: null },
        { number: 2, http_status: 503, error: null, response_body: 'no' },
      ],
    }
    const unheard = { ...delivery, delivery_id: 'd-2', attempts: [{ number: 1, http_status: null, error: 'dns' }] }
    const untried = { ...delivery, delivery_id: 'd-3', attempts: [] }
    const data = [delivery, unheard, untried]

    expect(renderReply('list-deliveries', { data, pagination: { page: 1, per_page: 25 } })).toBe(
      `delivery_id  event              status     attempts  last_status  last_error
-----------  -----------------  ---------  --------  -----------  ----------
d-1          payment.succeeded  scheduled         2          503
d-2          payment.succeeded  scheduled         1               dns
d-3          payment.succeeded  scheduled         0

page 1, 25 per page`,
    )
  })

  it('shows the deliveries of a payment below its events', () => {
    const deliveries = [{ delivery_id: 'd-1', event: 'e', status: 'succeeded', attempts: [{ http_status: 200 }] }]

    expect(renderReply('get-payment', { id: 'p', timeline: { events: [{ event: 'e', deliveries }] } })).toBe(`id  p

timeline.events
event  deliveries
-----  ----------
e               1

timeline.events.deliveries
delivery_id  event  status     attempts  last_status
-----------  -----  ---------  --------  -----------
d-1          e      succeeded         1          200`)
  })

  it('keeps the columns of a list short, ids apart', () => {
    const id = 'a'.repeat(64)
    const client = { client_id: id, name: `Warung ${'x'.repeat(60)}`, created_at: '2026-11-20T00:00:00.000Z' }

    const [, , row] = renderReply('list-clients', { data: [client], pagination: { page: 1, per_page: 25 } }).split('\n')

    expect(row).toBe(`${id}  Warung ${'x'.repeat(32)}…`)
  })

  it.each([
    ['an escape sequence', '\u001b[2Jgone', String.raw`\u001b[2Jgone`],
    ['a control of the second set', 'a\u009b1mb', String.raw`a\u009b1mb`],
    ['a change of direction', 'a\u202etxt.exe', String.raw`a\u202etxt.exe`],
    ['an invisible character', 'a\u200bb\ufeff', String.raw`a\u200bb\ufeff`],
    ['a tag beyond the first plane', 'a\u{e0041}', String.raw`a\udb40\udc41`],
    ['a line of its own', 'a\nbalance  0\r', String.raw`a\u000abalance  0\u000d`],
  ])('writes %s from outside as text, in keys and in values', (_, given, shown) => {
    const page = { page: 1, per_page: 25 }

    expect(renderReply('get-client', { name: given, [given]: 1 })).toBe(
      renderReply('get-client', { name: shown, [shown]: 1 }),
    )
    expect(renderReply('list-clients', { data: [{ name: given }], pagination: page })).toContain(`\n${shown}\n`)
    expect(renderReply('x', { data: [{ [given]: given }], pagination: page })).toMatch(
      new RegExp(String.raw`^[^\p{Cc}\p{Cf}]+\n-+\n[^\p{Cc}\p{Cf}]+\n\npage 1`, 'u'),
    )
    expect(renderRefusal('x', 422, { message: given, code: 'c', action_hint: given })).toBe(
      `x was refused (422 c): ${shown}\nHint: ${shown}`,
    )
  })
})

describe('a refusal for people', () => {
  it('says what, where, and what to do about it', () => {
    const body = {
      message: 'name: required',
      code: 'validation',
      field_errors: { name: ['required'], 'bank.no': ['required', 'must be text'] },
      action_hint: 'Correct the fields.',
    }

    expect(renderRefusal('create-client', 422, body)).toBe(`create-client was refused (422 validation): name: required
  name:     required
  bank.no:  required, must be text
Hint: Correct the fields.`)
  })

  it('is short when there is nothing more to say', () => {
    expect(renderRefusal('get-client', 404, { message: 'client not found', code: 'not_found' })).toBe(
      'get-client was refused (404 not_found): client not found',
    )
  })
})
