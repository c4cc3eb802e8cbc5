import { describe, expect, it } from 'vitest'
import { cli } from '../../support/admin-command.ts'
import { json } from '../../support/scripted-server.ts'

const CLIENT = { status: 200, body: { client_id: 'c1', name: 'Warung' } }
const REFUSED = {
  status: 422,
  body: { message: 'name: required', code: 'validation', field_errors: { name: ['required'] }, action_hint: 'Say it.' },
}

describe('what npm run admin prints', () => {
  it('prints CSV alone, and says on the error output how to go on', async () => {
    const body = { settlement: { id: 's1' }, cursor: 'abc', csv: 'payment_id,net_minor\np1,5\n' }
    const { run } = await cli(json(200, { status: 200, body }))

    expect(await run('get-settlement-statement', 's1', '--format', 'csv')).toStrictEqual({
      code: 0,
      out: 'payment_id,net_minor\np1,5',
      err: 'There is more: --cursor abc',
    })
    const asJson = await run('get-settlement-statement', 's1', '--format', 'csv', '--json')
    expect(JSON.parse(asJson.out)).toStrictEqual(body)
  })

  it('writes text from outside as text in --json too, which stays the same JSON', async () => {
    const body = { 'na\u009bme': 'a\u001b[2J\n\u007f\u0085\u202e\u{e0041}', list: ['\u200b'] }
    const { run } = await cli(json(200, { status: 200, body }))
    const { run: refused } = await cli(json(200, { status: 422, body }))

    for (const text of [
      (await run('get-client', 'c1', '--json')).out,
      (await refused('get-client', 'c1', '--json')).err,
    ]) {
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect(text).toContain(String.raw`\udb40\udc41`)
      expect(JSON.parse(text)).toStrictEqual(body)
    }
  })

  it('writes what a failed function says as text', async () => {
    const { run } = await cli((response) => {
      response.writeHead(200, { 'x-amz-function-error': 'Unhandled' }).end('{"errorMessage":"\u001b[2J\u202e\n"}')
    })

    const { err } = await run('get-client', 'c1')

    expect(err).toBe(String.raw`gateway-local-get-client failed: {"errorMessage":"\u001b[2J\u202e\u000a"}`)
  })

  it('prints JSON when asked to', async () => {
    const { run } = await cli(json(200, CLIENT))

    expect(JSON.parse((await run('get-client', '--client_id', 'c1', '--json')).out)).toStrictEqual(CLIENT.body)
  })

  it('shows metadata as it was answered, keys in their order and numbers with their digits', async () => {
    const metadata = '{"b":1,"10":2,"9":{"x":12345678901234567890123,"y":[1.0,1e2,null],"1":[],"0":-0}}'
    const answered = async (status: number, body: string, ...argv: string[]) => {
      const { run } = await cli((response) => response.writeHead(200).end(`{"status":${status},"body":${body}}`))
      const { out, err } = await run('get-payment', 'p1', ...argv)
      return out + err
    }
    const payment = `{"id":"p1","metadata":${metadata}}`
    const list = `{"data":[${payment},${payment}],"pagination":{"page":1,"per_page":25}}`

    for (const [status, body] of [
      [200, payment],
      [200, list],
      [422, payment],
    ] as const) {
      expect((await answered(status, body, '--json')).replaceAll(/\s/g, '')).toBe(body)
    }
    expect(await answered(200, payment)).toBe(`id            p1
metadata.b    1
metadata.10   2
metadata.9.x  12345678901234567890123
metadata.9.y  [1.0,1e2,null]
metadata.9.1  none
metadata.9.0  -0`)
    expect(await answered(200, list)).toContain(
      'id  metadata.b  metadata.10             metadata.9.x  metadata.9.y    metadata.9.1  metadata.9.0\n',
    )
    expect(await answered(200, '{"id":"p1","metadata":{"a":[1.0,1e2,"x"]}}')).toContain('metadata.a  1.0, 1e2, x')
  })

  it('ends with 1 when the action is refused, and says why on the error output', async () => {
    const { run } = await cli(json(200, REFUSED))

    expect(await run('create-client')).toStrictEqual({
      code: 1,
      out: '',
      err: 'create-client was refused (422 validation): name: required\n  name:  required\nHint: Say it.',
    })
    const asJson = await run('create-client', '--json')
    expect({ ...asJson, err: JSON.parse(asJson.err) as unknown }).toStrictEqual({ code: 1, out: '', err: REFUSED.body })
  })
})
