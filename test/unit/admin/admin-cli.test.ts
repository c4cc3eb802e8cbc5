import { spawnSync } from 'node:child_process'
import { describe, expect, it, vi } from 'vitest'
import { startProgress } from '../../../infra/operate/admin/progress.ts'
import { approvalHint } from '../../../shared/operator/approval-store.ts'
import { cli } from '../../support/admin-command.ts'
import { cut, json, type Script } from '../../support/scripted-server.ts'

const CLIENT = json(200, { status: 200, body: { client_id: 'c1', name: 'Warung' } })

function containing(text: string): unknown {
  return expect.stringContaining(text)
}

function raw(status: number, headers: Record<string, string>, body: string): Script {
  return (response) => {
    response.writeHead(status, headers).end(body)
  }
}

async function runUncalled(...argv: string[]) {
  const { run, server } = await cli(CLIENT)
  const result = await run(...argv)
  expect(server.requests).toHaveLength(0)
  return result
}

describe('npm run admin', () => {
  it('invokes the function of the action with the caller’s duty, and prints its answer', async () => {
    const { run, called, server } = await cli(CLIENT, { GATEWAY_DUTY: 'support' })

    const result = await run(
      'create-client',
      '--name',
      'Warung',
      '--settlement-floor-minor',
      '5',
      '--operator',
      'sari',
    )

    expect(result).toStrictEqual({ code: 0, out: 'client_id  c1\nname       Warung', err: '' })
    const url = '/2015-03-31/functions/gateway-local-create-client/invocations'
    expect(called()).toStrictEqual([
      { url, body: { name: 'Warung', settlement_floor_minor: 5, operator: 'sari' } },
    ])
    expect(server.requests[0]?.headers['x-local-duty']).toBe('support')
  })

  it('invokes the function of another stage on AWS, with the caller’s own region and credentials', async () => {
    const { run, server, called } = await cli(CLIENT)
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', server.url)
    vi.stubEnv('AWS_REGION', 'ap-southeast-3')
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')

    expect((await run('get-client', '--client_id', 'c1', '--stage', 'prod')).code).toBe(0)
    expect(called()[0]?.url).toBe('/2015-03-31/functions/gateway-prod-get-client/invocations')
    expect(server.requests[0]?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d+\/ap-southeast-3\//,
    )
  })

  it('names the stages that exist when a stage is misspelt', async () => {
    const { run, server } = await cli(
      raw(404, { 'x-amzn-errortype': 'ResourceNotFoundException' }, '{"Message":"not found"}'),
    )
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', server.url)
    for (const name of ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
      vi.stubEnv(name, 'ap-southeast-3')

    expect(await run('get-client', 'c1', '--stage', 'prd')).toStrictEqual({
      code: 1,
      out: '',
      err:
        'there is no function gateway-prd-get-client in ap-southeast-3 of this account; ' +
        'stages with a file: dev, prod',
    })
  })

  it('gives the approval that a refusal asks for as a command for the same stage', async () => {
    const hint = approvalHint({ action: 'recredit-settlement', payload: { settlement_id: 's1' } })
    const refused = { message: 'no', code: 'validation', action_hint: hint }
    const { run, server } = await cli(json(200, { status: 422, body: refused }))
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', server.url)
    for (const name of ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
      vi.stubEnv(name, 'ap-southeast-3')
    const errors = async (...argv: string[]) =>
      (await run('recredit-settlement', 's1', ...argv)).err

    const command = `--action recredit-settlement --payload '{"settlement_id":"s1"}'`
    expect(await errors('--stage', 'prod')).toContain(
      `runs: npm run -s admin -- approve --stage prod ${command}`,
    )
    expect(await errors()).toContain(`runs: npm run -s admin -- approve ${command}`)
  })

  it('asks for a dry run of what moves money', async () => {
    const { run, called } = await cli(CLIENT)

    await run('recredit-settlement', 's1', '--dry-run')

    expect(called()[0]?.body).toStrictEqual({ settlement_id: 's1', dry_run: true })
  })

  it('says what to set when no region is set', async () => {
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE'])
      vi.stubEnv(name, undefined)
    for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE'])
      vi.stubEnv(name, '/dev/null')

    const result = await runUncalled('get-client', 'c1', '--stage', 'prod')

    expect(result).toMatchObject({ code: 2, out: '', err: containing('set AWS_REGION') })
  })

  const NOT_INVOKED: unknown = expect.stringMatching(
    /^gateway-local-recredit-settlement could not be invoked at http:\/\/127\.0\.0\.1:\d+: /,
  )

  it.each<[string, Script, unknown]>([
    ['the connection is cut', cut, NOT_INVOKED],
    ['the API answers 500', json(500, { message: 'no' }), NOT_INVOKED],
    ['the answer is no JSON', raw(200, {}, 'oops'), NOT_INVOKED],
    [
      'the function fails',
      raw(200, { 'x-amz-function-error': 'Unhandled' }, '{"errorMessage":"\u001b[2J\u202e\n"}'),
      String.raw`gateway-local-recredit-settlement failed: {"errorMessage":"\u001b[2J\u202e\u000a"}`,
    ],
    [
      'the function is not there',
      raw(
        404,
        { 'x-amzn-errortype': 'ResourceNotFoundException' },
        '{"Message":"Function not found"}',
      ),
      'there is no function gateway-local-recredit-settlement',
    ],
    [
      'all runs of the function are in use',
      raw(429, { 'x-amzn-errortype': 'TooManyRequestsException' }, '{"Message":"Rate Exceeded"}'),
      'all runs of gateway-local-recredit-settlement are in use; repeat the command in a moment',
    ],
    [
      'the action needs another duty',
      raw(403, { 'x-amzn-errortype': 'AccessDeniedException' }, '{"Message":"not authorized"}'),
      'you may not invoke gateway-local-recredit-settlement: it needs the duty finance ' +
        '(docs/operations.md, "Who may do what")',
    ],
  ])(
    'ends with 1 when %s, and does not call again: a change may have happened',
    async (_, script, message) => {
      const { run, server } = await cli(script)

      expect(await run('recredit-settlement', '--settlement_id', 's1')).toStrictEqual({
        code: 1,
        out: '',
        err: message,
      })
      expect(server.requests).toHaveLength(1)
    },
  )

  it('says that the gateway does not run, and refuses an invalid PORT', async () => {
    const { run, server } = await cli(cut)
    await server.close()
    const { run: runOnBadPort } = await cli(CLIENT, { PORT: 'three' })

    const message = `nothing listens at ${server.url}; start the gateway: npm start`
    expect(await run('get-client')).toMatchObject({ code: 1, err: message })
    expect(await runOnBadPort('get-client')).toMatchObject({
      code: 2,
      err: 'PORT must be a number from 1 to 65534',
    })
  })

  it.each([
    [[], 'Actions of support:'],
    [['crate-client'], "unknown command 'crate-client'\n(Did you mean create-client?)"],
    [['get-client', '--client\u001b-id'], String.raw`unknown option '--client\u001b-id'`],
    [
      ['get-client', 'c1', '--nme', 'x'],
      '\nnpm run admin -- --help shows the actions, <action> --help its fields.',
    ],
    // Scheduled work would ignore the option and really run.
    [['sweep-settlements', '--dry-run', 'true'], "unknown option '--dry-run'"],
    // These functions take no input of an operator.
    ...['settle-client', 'deliver-webhook', 'api-create-payment'].map((name) => [
      [name, '--payload', '{"Records":[]}'],
      `unknown command '${name}'`,
    ]),
  ] as [string[], string][])('ends with 2 when it is called wrongly: %j', async (argv, message) => {
    expect(await runUncalled(...argv)).toMatchObject({ code: 2, out: '', err: containing(message) })
  })
})

function refusal(message: string) {
  return { status: 422, body: { message, code: 'validation' } }
}
function jsonText(value: unknown) {
  return JSON.stringify(value, null, 2)
}
function part(more: object = {}) {
  return { body: { continuing: true, cursor: 'c1', ...more } }
}
function leftOut(id: string) {
  return { left_out: [{ settlement_id: id, reason: 'not audited yet' }] }
}

const books = { figures: [{ name: 'fees', amount_minor: 5 }], balanced: true }
const redeliver = 'redeliver --operator ayu --client_id c --endpoint_id e --since 2026-11-20'.split(
  ' ',
)

it.each<[string, { status?: number; body: object }[], string[], object]>([
  [
    'follows the cursor to the last run, and shows that run',
    [part(), part({ cursor: 'c2' }), { body: books }],
    ['get-books', '--json'],
    { code: 0, out: jsonText(books), err: '', cursors: [undefined, 'c1', 'c2'] },
  ],
  [
    'prints the parts of a CSV as one file',
    [part({ csv: 'id,net\n"a",1\n' }), { body: { csv: '"b",2\n' } }],
    ['get-books', '--format', 'csv'],
    { code: 0, out: 'id,net\n"a",1\n"b",2', err: '' },
  ],
  [
    'shows the parts of a list as one list',
    [part({ data: [{ id: 'a' }] }), { body: { data: [{ id: 'b' }] } }],
    ['list-settlements', '--status', 'failed', '--json'],
    { out: jsonText({ data: [{ id: 'a' }, { id: 'b' }] }) },
  ],
  [
    'names what is left out of every run beside the file',
    [part({ csv: 'id\n"a"\n', ...leftOut('s1') }), { body: { csv: '"b"\n', ...leftOut('s2') } }],
    ['list-settlements', '--status', 'recorded', '--format', 'csv'],
    {
      code: 0,
      out: 'id\n"a"\n"b"',
      err: 'Left out: s1: not audited yet\nLeft out: s2: not audited yet',
    },
  ],
  [
    'ends with the refusal of a later run, and prints nothing else',
    [part({ csv: 'id,net\n' }), refusal('no')],
    ['get-books', '--format', 'csv'],
    { code: 1, out: '', err: 'get-books was refused (422 validation): no' },
  ],
  [
    'gives up when no run is the last',
    [part()],
    ['get-books'],
    {
      code: 1,
      out: '',
      err: containing('get-books was not finished after 500 runs'),
      cursors: { length: 500 },
    },
  ],
  [
    'goes on with a redelivery by --all until nothing is left, and prints the sums',
    [
      { body: { count: 100, next: 'n1' } },
      { body: { count: 0, passed_over: 3, next: 'n2' } },
      { body: { count: 7 } },
    ],
    [...redeliver, '--all', '--json'],
    {
      code: 0,
      out: jsonText({ count: 107, passed_over: 3 }),
      err: '',
      cursors: [undefined, 'n1', 'n2'],
    },
  ],
  [
    'says that more is left when a redelivery lacks --all',
    [{ body: { count: 100, next: 'n1' } }],
    redeliver,
    {
      code: 0,
      err: 'More is left: --all repeats the action until nothing is left',
      cursors: [undefined],
    },
  ],
  [
    'ends a redelivery with a later refusal, and says how far it was',
    [{ body: { count: 100, next: 'n1' } }, refusal('the endpoint is disabled')],
    [...redeliver, '--all'],
    { code: 1, err: containing('100 rounds began before; run the same command again to continue') },
  ],
])('npm run admin, for several runs: %s', async (_, answers, argv, expected) => {
  let runs = 0
  const { run, called } = await cli((response, request) =>
    json(200, { status: 200, ...answers[Math.min(runs++, answers.length - 1)] })(response, request),
  )

  const result = await run(...argv)

  const cursors = called().map(({ body }) => Object(body).cursor as unknown)
  expect({ ...result, cursors }).toMatchObject(expected)
})

it('npm run admin -- today shows what waits for an operator, and the refusal of a question', async () => {
  const failed = { id: 's2', net_minor: 7 }
  const answers: Record<string, object> = {
    '{"status":"recorded","per_page":100}': { data: [{ id: 's1', net_minor: 5 }] },
    '{"status":"recorded","format":"csv"}': { csv: '', left_out: leftOut('s1').left_out },
    '{"status":"failed","per_page":100}': {
      data: [
        { ...failed, recredited_at: null },
        { id: 's3', recredited_at: '2026-11-20' },
      ],
    },
    '{"status":"open","kind":"case","per_page":100}': {
      data: [{ suspense_id: 'c1', due_at: '2026-12-01', cause: 'dispute' }],
    },
    '{}': { balanced: false, differences: [{ what: 'window.paid', id: 'c1' }] },
  }
  const { run } = await cli((response, request) => {
    const { body } = request
    const isRefused = body.includes('"finding"')
    const answer = { status: 200, body: answers[body] ?? { data: [] } }
    json(200, isRefused ? refusal('no') : answer)(response, request)
  })

  const { code, out, err } = await run('today')

  expect([code, err]).toStrictEqual([1, 'list-suspense was refused (422 validation): no'])
  expect(out.split('\n').filter((line) => /: (none|\d)|^(s\d|2026|win)/.test(line))).toStrictEqual([
    'Settlements to pay out: 1',
    's1          5',
    'Of these, what the bank’s file leaves out: approvals and audits that are missing: 1',
    's1             not audited yet',
    'Payouts that failed and wait for recredit-settlement: 1',
    's2          7',
    'Cases to answer: 1',
    '2026-12-01  c1           dispute',
    'Money in suspense: none',
    'Differences of the books: 1',
    'window.paid  c1',
  ])
})

it('npm run admin prints a script that completes actions, their fields and stages in bash', async () => {
  const { out } = await runUncalled('completion')
  const completed = (...words: string[]) => {
    const line = ['gateway-admin', ...words].map((word) => `'${word}'`).join(' ')
    const typed = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _gateway_admin; echo "\${COMPREPLY[*]}"`
    return spawnSync('bash', ['-c', `${out}\n${typed}`], { encoding: 'utf8' }).stdout.trim()
  }

  expect(completed('list-cl')).toBe('list-clients')
  expect(completed('get-client', '--cl')).toBe('--client_id')
  expect(completed('get-client', 'c1', '--stage', 'pr')).toBe('prod')
})

it('npm run admin says every two seconds how far it is, each text once', () => {
  vi.useFakeTimers()
  const err: string[] = []
  const progress = startProgress({ err: (text) => err.push(text) }, 'redeliver is running')
  const inSeconds = (seconds: number) => vi.advanceTimersByTime(seconds * 1_000)
  inSeconds(1.9)
  expect(err).toStrictEqual([])
  inSeconds(4)
  progress.say('redeliver: 100 rounds began')
  inSeconds(2)
  progress.end()
  inSeconds(10)

  expect(err).toStrictEqual(['redeliver is running', 'redeliver: 100 rounds began'])
})
