import { describe, expect, it, vi } from 'vitest'
import { CLIENT, cli, onAws } from '../../support/admin-command.ts'
import { refusedWith } from '../../support/operator-actions.ts'
import { answerScript, awsError, cut, json, type Script } from '../../support/scripted-server.ts'

function containing(text: string) {
  return expect.stringContaining(text)
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
    onAws(server.url)
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')

    expect((await run('get-client', '--client_id', 'c1', '--stage', 'prod')).code).toBe(0)
    expect(called()[0]?.url).toBe('/2015-03-31/functions/gateway-prod-get-client/invocations')
    expect(server.requests[0]?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d+\/ap-southeast-3\//,
    )
  })

  it('says what to set when no region is set', async () => {
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE'])
      vi.stubEnv(name, undefined)
    for (const file of ['CONFIG', 'SHARED_CREDENTIALS']) vi.stubEnv(`AWS_${file}_FILE`, '/dev/null')

    expect(await runUncalled('get-client', 'c1', '--stage', 'prod')).toMatchObject({
      code: 2,
      out: '',
      err: containing('set AWS_REGION'),
    })
  })

  const RECREDIT = 'gateway-local-recredit-settlement'
  const UNKNOWN = containing('; it may be done: ')

  it.each<[string, Script, unknown]>([
    ['the connection is cut', cut, UNKNOWN],
    ['the API answers 500', json(500, { message: 'no' }), UNKNOWN],
    ['the answer is no JSON', answerScript(200, 'oops'), UNKNOWN],
    [
      'the function fails',
      answerScript(200, '{"errorMessage":"\u001b[2J\u202e\n"}', {
        'x-amz-function-error': 'Unhandled',
      }),
      String.raw`${RECREDIT} failed: {"errorMessage":"\u001b[2J\u202e\u000a"}`,
    ],
    [
      'the function is not there',
      awsError(404, 'ResourceNotFoundException'),
      `there is no function ${RECREDIT}`,
    ],
    [
      'all runs of the function are in use',
      awsError(429, 'TooManyRequestsException'),
      `all runs of ${RECREDIT} are in use; repeat the command in a moment`,
    ],
    [
      'the action needs another duty',
      awsError(403, 'AccessDeniedException'),
      `you may not invoke ${RECREDIT}: it needs the duty finance ` +
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

  it('says that the gateway does not run', async () => {
    const { run, server } = await cli(cut)
    await server.close()

    const message = `nothing listens at ${server.url}; start the gateway: npm start`
    expect(await run('get-client')).toMatchObject({ code: 1, err: message })
  })

  it.each(['three', '0'])('refuses the PORT %s', async (PORT) => {
    const { run } = await cli(CLIENT, { PORT })

    const err = 'PORT must be a number from 1 to 65532'
    expect(await run('get-client')).toMatchObject({ code: 2, err })
  })

  it.each([
    [[], 'Actions of support:'],
    [['crate-client'], "unknown command 'crate-client'\n(Did you mean create-client?)"],
    [['get-client', '--client\u001b-id'], String.raw`unknown option '--client\u001b-id'`],
    [
      ['get-client', 'c1', '--nme', 'x'],
      '\nnpm run admin -- --help shows the actions, <action> --help its fields.',
    ],
    [['get-client', '--bank-reference', 'x'], "unknown option '--bank-reference'"],
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

function jsonText(value: unknown) {
  return JSON.stringify(value, null, 2)
}
function part(more: object = {}) {
  return { body: { continuing: true, cursor: 'c1', ...more } }
}
const LEFT_OUT = { settlement_id: 's', client_id: 'c', amount_minor: 1, command: null }
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
    'shows the parts of a list as one list, and names once each row that a part could not read',
    [
      part({ data: [{ id: 'a' }], unreadable_ids: ['s1', 's2'] }),
      part({ data: [] }),
      { body: { from: '', data: [{ id: 'b' }], unreadable_ids: ['s2'], pagination: { page: 1 } } },
    ],
    ['list-settlements', '--status', 'failed', '--json'],
    { out: jsonText({ from: '', data: [{ id: 'a' }, { id: 'b' }], unreadable_ids: ['s1', 's2'] }) },
  ],
  [
    'collects every batch and file of payout-file as JSON',
    [
      part({ batch: { number: 1 }, file: { name: 'a' }, left_out: [] }),
      { body: { batch: null, file: null, left_out: [{ settlement_id: 's' }], audit: { at: 1 } } },
    ],
    ['payout-file', '--json'],
    {
      code: 0,
      out: jsonText({
        batches: [{ number: 1 }],
        files: [{ name: 'a' }],
        left_out: [{ settlement_id: 's' }],
        audits: [{ at: 1 }],
      }),
    },
  ],
  [
    'shows the batches before a refusal of payout-file',
    [part({ batch: { number: 1 }, file: { name: 'a' } }), refusedWith('no')],
    ['payout-file', '--json'],
    { code: 1, out: '', err: containing('"number": 1') },
  ],
  [
    'shows why payout-file was refused',
    [refusedWith('no')],
    ['payout-file'],
    { code: 1, out: '', err: 'payout-file was refused (422 validation): no' },
  ],
  [
    'takes no payout file with a path',
    [{ body: { batch: null, file: { name: '../payout-1.csv', text: '' } } }],
    ['payout-file'],
    { code: 1, err: containing('file.name: ../') },
  ],
  [
    'ends payout-file with 1 when no run is the last, and lists what was left out',
    [part({ batch: null, left_out: [{ ...LEFT_OUT, reason: 'late' }] }), part({ batch: null })],
    ['payout-file'],
    { code: 1, err: 'Left out: s: late\npayout-file was not finished after 500 runs' },
  ],
  [
    'ends with the refusal of a later run, and prints nothing else',
    [part({ csv: 'id,net\n' }), refusedWith('no')],
    ['get-books', '--format', 'csv'],
    { code: 1, out: '', err: 'get-books was refused (422 validation): no' },
  ],
  [
    'gives up when no run is the last, and shows the batches',
    [part({ batch: { number: 1 } })],
    ['payout-file', '--json'],
    {
      code: 1,
      out: '',
      err: expect.stringMatching(/"number": 1[^]*payout-file was not finished after 500 runs/),
      cursors: { length: 500 },
    },
  ],
  [
    'goes on with a redelivery by --all until nothing is left, and prints the sums',
    [
      { body: { count: 100, next: 'n1' } },
      { body: { count: 0, passed_over: 3, unreadable_ids: ['d1'], next: 'n2' } },
      { body: { count: 7 } },
    ],
    [...redeliver, '--all', '--json'],
    {
      code: 0,
      out: jsonText({ count: 107, passed_over: 3, unreadable_ids: ['d1'] }),
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
    [{ body: { count: 100, next: 'n1' } }, refusedWith('the endpoint is disabled')],
    [...redeliver, '--all'],
    { code: 1, err: containing('100 rounds began; continue with --cursor n1') },
  ],
  [
    'ends a redelivery with a refusal at once',
    [refusedWith('no')],
    [...redeliver, '--all'],
    { code: 1, err: 'redeliver was refused (422 validation): no' },
  ],
  [
    'ends a redelivery after 500 runs, and says where the next command continues',
    [{ body: { count: 100, next: 'n1' } }],
    [...redeliver, '--all'],
    { code: 1, err: containing('50000 rounds began; continue with --cursor n1') },
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
