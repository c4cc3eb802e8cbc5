import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseCsv } from '../../../infra/operate/admin/parse-csv.ts'
import { cli } from '../../support/admin-command.ts'
import { cut, json, type Script } from '../../support/scripted-server.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

const APPROVED = { status: 200, body: { action: 'mark-settlement-paid' } }

const HEAD = 'action,payload'
const ANSWER_HEAD = 'settlement_id,amount,bank_account_no,status,bank_reference'

/** A line that approves the payout of a settlement. */
function lineOf(id: string) {
  return `mark-settlement-paid,"{""settlement_id"":""${id}"",""owed"":5}"`
}

function fileOf(...lines: readonly string[]) {
  const path = join(tempDirectory(), 'answer.csv')
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

function bank(answers: Readonly<Record<string, Script>> = {}): Script {
  return (response, request) =>
    (answers[JSON.parse(request.body).payload.settlement_id] ?? json(200, APPROVED))(
      response,
      request,
    )
}

async function run(script: Script, ...argv: readonly string[]) {
  const tool = await cli(script, { GATEWAY_OPERATOR: 'sari' })
  const result = await tool.run('approve', ...argv)
  return { ...result, bodies: tool.called().map(({ body }) => body) }
}

describe('npm run admin -- approve --file', () => {
  // The command prints no cell of the file but ids, and no bank details.
  it('invokes the action for each line, in order, and prints each result', async () => {
    const file = fileOf(HEAD, lineOf('s1'), '', lineOf('s2'))

    expect(await run(bank(), '--file', file)).toStrictEqual({
      code: 0,
      out: 'line 2  s1  done\nline 4  s2  done\n2 of 2 done',
      err: '',
      bodies: ['s1', 's2'].map((settlement_id) => ({
        operator: 'sari',
        action: 'mark-settlement-paid',
        payload: { settlement_id, owed: 5 },
      })),
    })
  })

  it('continues after a refused line, shows why, and ends with 1', async () => {
    const refusal = {
      message: 'mark-settlement-paid needs an approval of exactly these figures: there is none',
      code: 'validation',
      action_hint: 'See get-settlement-statement.',
      confirm: { unproven: 95_900, new_bank: 'BCA 1' },
    }
    const file = fileOf(HEAD, lineOf('s1'), lineOf('s2'), lineOf('s3'))

    expect(
      await run(bank({ s2: json(200, { status: 422, body: refusal }) }), '--file', file),
    ).toMatchObject({
      code: 1,
      out: 'line 2  s1  done\nline 4  s3  done\n2 of 3 done',
      err: [
        'line 3  s2  approve was refused (422 validation): ' +
          'mark-settlement-paid needs an approval of exactly these figures: there is none',
        '  confirm.unproven: 95900',
        '  confirm.new_bank: BCA 1',
        'Hint: See get-settlement-statement.',
      ].join('\n'),
    })
  })

  it('stops at a line without an answer, and names the unsent lines', async () => {
    const file = fileOf(HEAD, lineOf('s1'), lineOf('s2'), lineOf('s3'), lineOf('s4'))
    const { code, out, err, bodies } = await run(bank({ s2: cut }), '--file', file)

    expect({ code, out, calls: bodies.length }).toStrictEqual({
      code: 1,
      out: 'line 2  s1  done',
      calls: 2,
    })
    expect(err).toMatch(/^line 3 {2}s2 {2}no answer: /)
    expect(err).toMatch(/\n1 of 4 done; 2 lines after line 3 were not sent$/)
  })

  it.each([
    [[`${HEAD},status`, `${lineOf('s1')},FAILED`], /unknown columns: status; use operator/],
    [['action,action', 'a,a'], /a column twice/],
    [['action', 'mark-settlement-paid'], /lacks the column payload/],
    [[HEAD, 'mark-settlement-paid'], /line 2 has 1 cells instead of 2/],
    [[HEAD, lineOf('s1'), 'mark-settlement-paid,'], /line 3: payload is empty/],
    [[HEAD, '"mark-settlement-paid,{}'], /a quote is misplaced/],
    [[HEAD], /has no line after its column names/],
  ])('calls nothing for an invalid file: %j', async (lines, message) => {
    const { code, err, bodies } = await run(bank(), '--file', fileOf(...lines))

    expect({ code, bodies }).toStrictEqual({ code: 2, bodies: [] })
    expect(err).toMatch(message)
  })

  it('refuses a file beside fields or --json, one of more than 10,000 lines, and a missing one', async () => {
    const file = fileOf(HEAD, lineOf('s1'))

    const long = fileOf(HEAD, lineOf('s1'), '\n'.repeat(10_000))
    for (const argv of [[file, '--notes', 'by bank'], [file, '--json'], [long]])
      expect(await run(bank(), '--file', ...argv)).toMatchObject({ code: 2, bodies: [] })
    const missing = { code: 2, err: `${file}.txt cannot be read`, bodies: [] }
    expect(await run(bank(), '--file', `${file}.txt`)).toMatchObject(missing)
  })
})

it.each([
  ['refused', json(200, { status: 422, body: { message: 'no', code: 'validation' } })],
  ['cut', cut],
])('payout-answer names the lines that were not sent after a call was %s', async (_, script) => {
  const lines = Array.from({ length: 150 }, () => `${crypto.randomUUID()},5,12345678,failed,`)
  const tool = await cli(script, { GATEWAY_OPERATOR: 'sari' })

  const file = fileOf(ANSWER_HEAD, ...lines)
  const { code, out, err } = await tool.run('payout-answer', '--file', file, '--json')

  expect({ code, calls: tool.called().length }).toStrictEqual({ code: 1, calls: 1 })
  expect(JSON.parse(out)).toStrictEqual({ lines: [], passed_over: 0 })
  expect(err).toContain(
    'lines 2 to 101 were not answered, lines 102 to 151 were not sent; repeat the same file',
  )
})

it('payout-answer --json prints the results as one JSON value, and refused lines on stderr too', async () => {
  const [paidId, id] = [crypto.randomUUID(), crypto.randomUUID()]
  const done = { line: 2, settlement_id: paidId, result: 'done' }
  const refused = { line: 3, settlement_id: id, result: 'refused', reason: 'paid before' }
  const body = { done: 1, failed: 0, refused: 1, lines: [done, refused] }
  const tool = await cli(json(200, { status: 200, body }), { GATEWAY_OPERATOR: 'sari' })
  const lines = [paidId, id].map((settlement) => `${settlement},5,12345678,success,R1`)
  const file = fileOf(ANSWER_HEAD, ...lines)

  const { code, out, err } = await tool.run('payout-answer', '--file', file, '--json')

  expect([code, JSON.parse(out)]).toStrictEqual([1, { lines: [done, refused], passed_over: 0 }])
  expect(err).toBe(`line 3  ${id}  refused: paid before`)
})

it.each<[string, string[] | undefined]>([
  ['a,b\r\n1,2\r\n', ['a|b', '1|2']],
  ['\uFEFFa,b\n1,2', ['a|b', '1|2']],
  ['a,"b ""x"", y"\n\n1,\n', ['a|b "x", y', '', '1|']],
  ['a\n"line 1\nline 2"\n', ['a', 'line 1\nline 2']],
  ['a , b\n', ['a|b']],
  ['a,', ['a|']],
  ['', []],
  ...['"a', 'a"b', '"a"b,c'].map((text): [string, undefined] => [text, undefined]),
])('parseCsv reads %j as %j, and as undefined where a quote is misplaced', (text, rows) => {
  expect(parseCsv(text)?.map((cells) => cells.join('|'))).toStrictEqual(rows)
})
