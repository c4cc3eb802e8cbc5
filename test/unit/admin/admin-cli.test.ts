import { describe, expect, it, vi } from 'vitest'
import { cli } from '../../support/admin-command.ts'
import { cut, json, type Script } from '../../support/scripted-server.ts'

const CLIENT = { status: 200, body: { client_id: 'c1', name: 'Warung' } }

const NOT_INVOKED: unknown = expect.stringMatching(/^gateway-local-recredit-settlement could not be invoked: /)

const raw =
  (status: number, headers: Record<string, string>, body: string): Script =>
  (response) => {
    response.writeHead(status, headers).end(body)
  }

/** The tool where nothing must be asked. */
const uncalled = async (...argv: string[]) => {
  const { run, server } = await cli(json(200, CLIENT))
  const result = await run(...argv)
  expect(server.requests).toHaveLength(0)
  return result
}

describe('npm run admin', () => {
  it('invokes the function of the action and prints its answer', async () => {
    const { run, called } = await cli(json(200, CLIENT))

    const result = await run('create-client', '--name', 'Warung', '--settlement-floor-minor', '5', '--operator', 'sari')

    expect(result).toStrictEqual({ code: 0, out: 'client_id  c1\nname       Warung', err: '' })
    expect(called()).toStrictEqual([
      {
        url: '/2015-03-31/functions/gateway-local-create-client/invocations',
        body: { name: 'Warung', settlement_floor_minor: 5, operator: 'sari' },
      },
    ])
  })

  it('invokes the function of another stage on AWS, with the caller’s own region and credentials', async () => {
    const { run, server, called } = await cli(json(200, CLIENT))
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', server.url)
    vi.stubEnv('AWS_REGION', 'ap-southeast-3')
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')

    const { code } = await run('get-client', '--client_id', 'c1', '--stage', 'prod')
    vi.unstubAllEnvs()

    expect(code).toBe(0)
    expect(called()[0]?.url).toBe('/2015-03-31/functions/gateway-prod-get-client/invocations')
    expect(server.requests[0]?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d+\/ap-southeast-3\//,
    )
  })

  it('tells the gateway on this machine the caller’s duty, and AWS, which knows it, nothing', async () => {
    const { run, server } = await cli(json(200, CLIENT), { GATEWAY_DUTY: 'support' })

    await run('get-client', 'c1')

    expect(server.requests[0]?.headers['x-local-duty']).toBe('support')
  })

  it('says what to set when no region is', async () => {
    const { run, server } = await cli(json(200, CLIENT))
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE']) vi.stubEnv(name, undefined)
    vi.stubEnv('AWS_CONFIG_FILE', '/dev/null')
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/dev/null')

    const result = await run('get-client', 'c1', '--stage', 'prod')
    vi.unstubAllEnvs()

    expect(result).toMatchObject({ code: 2, out: '', err: expect.stringContaining('set AWS_REGION') as unknown })
    expect(server.requests).toHaveLength(0)
  })

  it.each([[['--dry-run', 'true'], "unknown option '--dry-run'"]])(
    'refuses scheduled work with %j, which it would ignore and really run',
    async (fields, message) => {
      expect(await uncalled('sweep-settlements', ...fields)).toMatchObject({
        code: 2,
        err: expect.stringContaining(message) as unknown,
      })
    },
  )

  it.each(['settle-client', 'deliver-webhook', 'api-create-payment'])(
    'does not start %s, which takes no input of an operator',
    async (name) => {
      expect(await uncalled(name, '--payload', '{"Records":[]}')).toMatchObject({ code: 2 })
      expect((await uncalled('--help')).out).not.toMatch(new RegExp(`^ +${name} `, 'm'))
    },
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
      raw(404, { 'x-amzn-errortype': 'ResourceNotFoundException' }, '{"Message":"Function not found"}'),
      'there is no function gateway-local-recredit-settlement',
    ],
    [
      'it is another’s duty',
      raw(403, { 'x-amzn-errortype': 'AccessDeniedException' }, '{"Message":"not authorized"}'),
      'you may not invoke gateway-local-recredit-settlement: it takes the duty finance (docs/operations.md, "Who may do what")',
    ],
  ])('ends with 1 when %s, and does not call again: a change may have happened', async (_, script, message) => {
    const { run, server } = await cli(script)

    expect(await run('recredit-settlement', '--settlement_id', 's1')).toStrictEqual({ code: 1, out: '', err: message })
    expect(server.requests).toHaveLength(1)
  })

  it('says that the gateway does not run', async () => {
    const { run, server } = await cli(cut)
    await server.close()

    expect(await run('get-client')).toMatchObject({
      code: 1,
      err: `nothing listens at ${server.url}; start the gateway: npm start`,
    })
  })

  it.each([
    [['crate-client'], "unknown command 'crate-client'\n(Did you mean create-client?)"],
    [['get-client', '--client-id', 'c1', '--client_id', 'c1'], 'It is given twice.'],
    [['get-client', '--client\u001b-id'], String.raw`unknown option '--client\u001b-id'`],
    [['get-client', 'c1', '--nme', 'x'], '\nnpm run admin -- --help shows the actions, <action> --help its fields.'],
  ])('ends with 2 when it is called wrongly: %j', async (argv, message) => {
    const { code, out, err } = await uncalled(...argv)

    expect({ code, out }).toStrictEqual({ code: 2, out: '' })
    expect(err).toContain(message)
  })

  it('ends with 2 and its help when it is called without an action', async () => {
    expect(await uncalled()).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('Actions of support:') as unknown,
    })
  })

  it('refuses a PORT that is none', async () => {
    const { run } = await cli(json(200, CLIENT), { PORT: 'three' })

    expect(await run('get-client')).toMatchObject({ code: 2, err: 'PORT must be a number from 1 to 65534' })
  })
})
