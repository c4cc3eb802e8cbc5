import { describe, expect, it } from 'vitest'
import { cli } from '../../support/admin-command.ts'
import { json, type Script } from '../../support/scripted-server.ts'

/** Answers these one after the other, and the last one for ever. */
const inTurn = (...bodies: readonly object[]): Script => {
  let asked = 0
  return (response, request) => {
    const body = bodies[Math.min(asked, bodies.length - 1)]
    asked += 1
    json(200, { status: 200, body })(response, request)
  }
}

describe('npm run admin, of a report that one run cannot finish', () => {
  it('follows the cursor to the last run, and shows that one', async () => {
    const last = { figures: [{ name: 'fees', amount_minor: 5 }], balanced: true }
    const { run, called } = await cli(
      inTurn({ continuing: true, cursor: 'c1' }, { continuing: true, cursor: 'c2' }, last),
    )

    const result = await run('get-books', '--from', '2026-11-01', '--json')

    expect(result).toStrictEqual({ code: 0, out: JSON.stringify(last, null, 2), err: '' })
    expect(called().map(({ body }) => body)).toStrictEqual([
      { from: '2026-11-01' },
      { from: '2026-11-01', cursor: 'c1' },
      { from: '2026-11-01', cursor: 'c2' },
    ])
  })

  it('prints the parts of a CSV as one', async () => {
    const { run } = await cli(inTurn({ continuing: true, cursor: 'c1', csv: 'id,net\n"a",1\n' }, { csv: '"b",2\n' }))

    const result = await run('get-books', '--format', 'csv')

    expect(result).toStrictEqual({ code: 0, out: 'id,net\n"a",1\n"b",2', err: '' })
  })

  it('shows the parts of a list as one', async () => {
    const { run } = await cli(inTurn({ continuing: true, cursor: 'c1', data: [{ id: 'a' }] }, { data: [{ id: 'b' }] }))

    const { out } = await run('list-settlements', '--status', 'failed', '--json')

    expect(JSON.parse(out)).toStrictEqual({ data: [{ id: 'a' }, { id: 'b' }] })
  })

  it('ends with the refusal of a later run, and prints nothing else', async () => {
    let asked = 0
    const { run } = await cli((response, request) => {
      const body = { continuing: true, cursor: 'c1', csv: 'id,net\n' }
      const refusal = { status: 422, body: { message: 'no', code: 'validation' } }
      json(200, asked++ === 0 ? { status: 200, body } : refusal)(response, request)
    })

    const result = await run('get-books', '--format', 'csv')

    expect(result).toStrictEqual({ code: 1, out: '', err: 'get-books was refused (422 validation): no' })
  })

  it('gives up when no run is the last one', async () => {
    const { run, called } = await cli(inTurn({ continuing: true, cursor: 'c1' }))

    const result = await run('get-books')

    expect(result).toStrictEqual({ code: 1, out: '', err: 'get-books was not finished after 500 runs' })
    expect(called()).toHaveLength(500)
  }, 60_000)
})

describe('npm run admin, of a file that lacks some lines', () => {
  it('names what is left out of every run beside the file', async () => {
    const leftOut = (id: string) => [{ settlement_id: id, reason: 'not audited yet' }]
    const first = { continuing: true, cursor: 'c1', csv: 'id\n"a"\n', left_out: leftOut('s1') }
    const { run } = await cli(inTurn(first, { csv: '"b"\n', left_out: leftOut('s2') }))

    const result = await run('list-settlements', '--status', 'recorded', '--format', 'csv')

    expect(result).toStrictEqual({
      code: 0,
      out: 'id\n"a"\n"b"',
      err: 'Left out: s1: not audited yet\nLeft out: s2: not audited yet',
    })
  })
})

describe('npm run admin, of a redelivery in parts', () => {
  const asked = ['redeliver', '--operator', 'ayu', '--client_id', 'c', '--endpoint_id', 'e', '--since', '2026-11-20']

  it('goes on with --all until nothing is left, and prints the sums', async () => {
    const { run, called } = await cli(
      inTurn({ count: 100, next: 'n1' }, { count: 0, passed_over: 3, next: 'n2' }, { count: 7, passed_over: 1 }),
    )

    const result = await run(...asked, '--all', '--json')

    const sums = { count: 107, passed_over: 4 }
    expect(result).toStrictEqual({ code: 0, out: JSON.stringify(sums, null, 2), err: '' })
    expect(called().map(({ body }) => Reflect.get(Object(body), 'cursor'))).toStrictEqual([undefined, 'n1', 'n2'])
  })

  it('says without --all that there is more', async () => {
    const { run, called } = await cli(inTurn({ count: 100, next: 'n1' }))

    const { code, err } = await run(...asked)

    expect([code, err]).toStrictEqual([0, 'There is more: --all goes on until nothing is left'])
    expect(called()).toHaveLength(1)
  })

  it('ends with a later refusal, and says how far it was', async () => {
    let calls = 0
    const { run } = await cli((response, request) => {
      const refusal = { status: 422, body: { message: 'the endpoint is disabled', code: 'validation' } }
      json(200, calls++ === 0 ? { status: 200, body: { count: 100, next: 'n1' } } : refusal)(response, request)
    })

    const { code, err } = await run(...asked, '--all')

    expect(code).toBe(1)
    expect(err).toContain('100 were begun before; the same command again goes on')
    expect(err).toContain('redeliver was refused (422 validation): the endpoint is disabled')
  })
})
