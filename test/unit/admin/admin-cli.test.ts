import { describe, expect, it, vi } from 'vitest'
import { cli } from '../../support/admin-command.ts'
import { cut, json, type Script } from '../../support/scripted-server.ts'

const CLIENT = { status: 200, body: { client_id: 'c1', name: 'Warung' } }

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

  it('says who asks when the environment does, where an action wants to know', async () => {
    const { run, called } = await cli(json(200, CLIENT), { GATEWAY_OPERATOR: 'sari' })

    await run('update-client', '--client_id', 'c1', '--enabled', 'false')
    await run('get-client', '--client_id', 'c1')

    expect(called().map(({ body }) => body)).toStrictEqual([
      { client_id: 'c1', enabled: false, operator: 'sari' },
      { client_id: 'c1' },
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

  it('takes the id an action is about without its name', async () => {
    const { run, called } = await cli(json(200, CLIENT))

    await run('get-payment', 'p1')
    await run('list-settlements', 'c1')
    await run('revoke-api-key', 'c1', '--key-id', 'k1')

    expect(called().map(({ body }) => body)).toStrictEqual([
      { payment_id: 'p1' },
      { client_id: 'c1' },
      { client_id: 'c1', key_id: 'k1' },
    ])
  })

  it('starts scheduled work and prints its summary', async () => {
    const { run, called } = await cli(json(200, { clients: 2 }))

    expect(await run('sweep-settlements')).toStrictEqual({ code: 0, out: 'clients  2', err: '' })
    expect(called()).toStrictEqual([
      { url: '/2015-03-31/functions/gateway-local-sweep-settlements/invocations', body: {} },
    ])
  })

  it.each([
    [['--dry-run', 'true'], 'sweep-settlements takes no fields: dry_run'],
    [['--payload', '{"dry_run":true}'], 'sweep-settlements takes no fields: dry_run'],
    [['--payload', '[]'], '--payload must be a JSON object'],
    [['--payload', 'null'], '--payload must be a JSON object'],
    [['now'], 'unexpected argument: now'],
  ])('refuses scheduled work with %j, which it would ignore and really run', async (fields, message) => {
    const { run, server } = await cli(json(200, { clients: 2 }))

    expect(await run('sweep-settlements', ...fields)).toMatchObject({
      code: 2,
      err: expect.stringContaining(message) as unknown,
    })
    expect(server.requests).toHaveLength(0)
  })

  it.each(['settle-client', 'deliver-webhook', 'fan-out-events', 'api-create-payment'])(
    'does not start %s, which takes no input of an operator',
    async (name) => {
      const { run, server } = await cli(json(200, {}))

      expect(await run(name, '--payload', '{"Records":[]}')).toMatchObject({ code: 2 })
      expect((await run('--help')).out).not.toMatch(new RegExp(`^ +${name} `, 'm'))
      expect(server.requests).toHaveLength(0)
    },
  )

  it('ends with 1 when the function fails, and does not call it again', async () => {
    const { run, server } = await cli((response) => {
      response
        .writeHead(200, { 'x-amz-function-error': 'Unhandled' })
        .end('{"errorType":"Error","errorMessage":"boom"}')
    })

    const { code, err } = await run('get-client', '--client_id', 'c1')

    expect(code).toBe(1)
    expect(err).toBe('gateway-local-get-client failed: {"errorType":"Error","errorMessage":"boom"}')
    expect(server.requests).toHaveLength(1)
  })

  it.each<[string, Script]>([
    ['the connection is cut', cut],
    ['the API answers 500', json(500, { message: 'no' })],
    ['the API answers 429', json(429, { message: 'slow down' })],
  ])('ends with 1 when %s, and does not call again: a change may have happened', async (_, script) => {
    const { run, server } = await cli(script)

    const { code, out, err } = await run('recredit-settlement', '--settlement_id', 's1')

    expect({
      code,
      out,
      isExplained: err.includes('gateway-local-recredit-settlement could not be invoked'),
    }).toStrictEqual({
      code: 1,
      out: '',
      isExplained: true,
    })
    expect(server.requests).toHaveLength(1)
  })

  it('says that the function is not there', async () => {
    const { run } = await cli((response) => {
      response
        .writeHead(404, { 'x-amzn-errortype': 'ResourceNotFoundException' })
        .end('{"Message":"Function not found"}')
    })

    expect(await run('get-client')).toMatchObject({ code: 1, err: 'there is no function gateway-local-get-client' })
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
    [['crate-client'], 'unknown action: crate-client; similar: create-client'],
    [['xyz'], 'unknown action: xyz\n'],
    [['list-clients', 'c1'], 'unexpected argument: c1'],
    [['--stage', 'prod', 'get-client'], 'name the action before --stage'],
    [['get-client', '--json=false'], '--json takes no value'],
    [['get-client', '--client_id'], '--client_id needs a value'],
  ])('ends with 2 when it is called wrongly: %j', async (argv, message) => {
    const { run, server } = await cli(json(200, CLIENT))

    const { code, out, err } = await run(...argv)

    expect({ code, out }).toStrictEqual({ code: 2, out: '' })
    expect(err).toContain(message)
    expect(server.requests).toHaveLength(0)
  })

  it('ends with 2 and its help when it is called without an action, with 0 when asked for help', async () => {
    const { run } = await cli(json(200, CLIENT))

    expect(await run()).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Actions') as unknown })
    for (const help of ['--help', '-h']) {
      const [overall, ofAction] = [await run(help), await run('get-client', help)]
      expect(overall).toMatchObject({ code: 0, out: expect.stringContaining('Actions') as unknown, err: '' })
      expect(ofAction).toMatchObject({
        code: 0,
        out: expect.stringContaining('--client_id  text  required') as unknown,
      })
      for (const { out } of [overall, ofAction]) {
        expect(out).toContain('Exit code: 0 done, 1 refused or failed, 2 called wrongly.')
      }
    }
  })

  it('refuses a PORT that is none', async () => {
    const { run } = await cli(json(200, CLIENT), { PORT: 'three' })

    expect(await run('get-client')).toMatchObject({ code: 2 })
  })
})
