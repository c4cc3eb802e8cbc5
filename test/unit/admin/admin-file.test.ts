import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseCsv } from '../../../infra/operate/admin/parse-csv.ts'
import { cli } from '../../support/admin-command.ts'
import { cut, json, type Script } from '../../support/scripted-server.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

const PAID = {
  status: 200,
  body: { id: 's', status: 'manual_paid', bank_account_no: '0012345678' },
}

const HEAD = 'settlement_id,bank_reference'

function fileOf(...lines: readonly string[]) {
  const path = join(tempDirectory(), 'answer.csv')
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

function bank(answers: Readonly<Record<string, Script>> = {}): Script {
  return (response, request) =>
    (answers[JSON.parse(request.body).settlement_id] ?? json(200, PAID))(response, request)
}

async function run(script: Script, ...argv: readonly string[]) {
  const tool = await cli(script, { GATEWAY_OPERATOR: 'sari' })
  const result = await tool.run('mark-settlement-paid', ...argv)
  return { ...result, bodies: tool.called().map(({ body }) => body) }
}

describe('npm run admin -- mark-settlement-paid --file', () => {
  // The command prints no cell of the file but ids, and no bank details.
  it('invokes the action for each line, in order, and prints each result', async () => {
    const file = fileOf(HEAD, 's1,TRX-1', '"s2","TRX, 2"')

    expect(await run(bank(), '--file', file)).toStrictEqual({
      code: 0,
      out: 'line 2  s1  done\nline 3  s2  done\n2 of 2 done',
      err: '',
      bodies: [
        { operator: 'sari', settlement_id: 's1', bank_reference: 'TRX-1' },
        { operator: 'sari', settlement_id: 's2', bank_reference: 'TRX, 2' },
      ],
    })
  })

  it('continues after a refused line, shows why, and ends with 1', async () => {
    const refusal = {
      message: 'mark-settlement-paid needs an approval of exactly these figures: there is none',
      code: 'validation',
      action_hint: 'See get-settlement-statement.',
      confirm: { unproven: 95_900, new_bank: 'BCA 1' },
    }
    const file = fileOf(HEAD, 's1,TRX-1', 's2,TRX-2', 's3,TRX-3')

    expect(
      await run(bank({ s2: json(200, { status: 422, body: refusal }) }), '--file', file),
    ).toMatchObject({
      code: 1,
      out: 'line 2  s1  done\nline 4  s3  done\n2 of 3 done',
      err: [
        'line 3  s2  mark-settlement-paid was refused (422 validation): ' +
          'mark-settlement-paid needs an approval of exactly these figures: there is none',
        '  confirm.unproven: 95900',
        '  confirm.new_bank: BCA 1',
        'Hint: See get-settlement-statement.',
      ].join('\n'),
    })
  })

  it('stops at a line without an answer, and names the unsent lines', async () => {
    const file = fileOf(HEAD, 's1,TRX-1', 's2,TRX-2', 's3,TRX-3', 's4,TRX-4')
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
    [[`${HEAD},status`, 's1,TRX-1,FAILED'], /unknown columns: status; use operator/],
    [['settlement_id,settlement_id', 's1,s1'], /a column twice/],
    [['settlement_id', 's1'], /lacks the column bank_reference/],
    [[HEAD, 's1'], /line 2 has 1 cells instead of 2/],
    [[HEAD, 's1,TRX-1', 's2,'], /line 3: bank_reference is empty/],
    [[HEAD, '"s1,TRX-1'], /a quote is misplaced/],
    [[HEAD], /has no line after its column names/],
  ])('calls nothing for an invalid file: %j', async (lines, message) => {
    const { code, err, bodies } = await run(bank(), '--file', fileOf(...lines))

    expect({ code, bodies }).toStrictEqual({ code: 2, bodies: [] })
    expect(err).toMatch(message)
  })

  it('refuses a file beside fields, and a file that does not exist', async () => {
    const file = fileOf(HEAD, 's1,TRX-1')

    expect(await run(bank(), '--file', file, '--notes', 'by bank')).toMatchObject({
      code: 2,
      bodies: [],
    })
    const missing = { code: 2, err: `${file}.txt cannot be read`, bodies: [] }
    expect(await run(bank(), '--file', `${file}.txt`)).toMatchObject(missing)
  })
})

it.each<[string, string[] | undefined]>([
  ['a,b\r\n1,2\r\n', ['a|b', '1|2']],
  ['\uFEFFa,b\n1,2', ['a|b', '1|2']],
  ['a,"b ""x"", y"\n\n1,\n', ['a|b "x", y', '1|']],
  ['a\n"line 1\nline 2"\n', ['a', 'line 1\nline 2']],
  ['a , b\n', ['a|b']],
  ['a,', ['a|']],
  ['', []],
  ...['"a', 'a"b', '"a"b,c'].map((text): [string, undefined] => [text, undefined]),
])('parseCsv reads %j as %j, and as undefined where a quote is misplaced', (text, rows) => {
  expect(parseCsv(text)?.map((cells) => cells.join('|'))).toStrictEqual(rows)
})
