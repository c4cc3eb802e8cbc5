import { describe, expect, it } from 'vitest'
import { renderRefusal, renderReply } from '../../infra/cli/render-reply.ts'

describe('an answer for people', () => {
  it('is a table for a list, without columns that say nothing, with its page below', () => {
    const body = {
      data: [
        { id: 'a-1', net_minor: 95_460, notes: null, bank: { no: '0012' }, types: ['x', 'y'], attempts: [{ n: 1 }] },
        { id: 'b-22', net_minor: -5, notes: null, bank: { no: null }, types: [], attempts: [] },
      ],
      pagination: { page: 2, per_page: 25 },
    }

    expect(renderReply(body)).toBe(`id    net_minor  bank.no  types  attempts
----  ---------  -------  -----  --------
a-1       95460     0012  x, y   1 items
b-22         -5           none   none

page 2, 25 per page`)
  })

  it('says what else comes with a list', () => {
    expect(renderReply({ data: [{ id: 'a' }], pagination: { page: 1, per_page: 1 }, complete: false })).toBe(`id
--
a

complete  false

page 1, 1 per page`)
  })

  it('says that a list is empty', () => {
    expect(renderReply({ data: [], pagination: { page: 1, per_page: 25 } })).toBe('none\n\npage 1, 25 per page')
  })

  it('is name by name for an object, with lists of objects as tables below', () => {
    const body = { id: 'a', ok: true, bank: { name: 'BCA', no: null }, empty: [], attempts: [{ number: 1, at: 'now' }] }

    expect(renderReply(body)).toBe(`id         a
ok         true
bank.name  BCA
bank.no    -
empty      none

attempts
number  at
------  ---
     1  now`)
  })

  it('shows a text of several lines as it is', () => {
    expect(renderReply({ cursor: null, csv: 'a,b\n1,2\n' })).toBe('cursor  -\n\ncsv\na,b\n1,2')
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
