import { spawnSync } from 'node:child_process'
import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { startProgress } from '../../../infra/operate/admin/progress.ts'
import { parsePayload } from '../../../shared/operator/action-payload.ts'
import { approvalHint } from '../../../shared/operator/approval-store.ts'
import { CLIENT, cli, onAws } from '../../support/admin-command.ts'
import { handlerOf, refusedWith } from '../../support/operator-actions.ts'
import { awsError, json } from '../../support/scripted-server.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

describe('npm run admin', () => {
  it('names the stages that exist when a stage is misspelt', async () => {
    const { run, server } = await cli(awsError(404, 'ResourceNotFoundException'))
    onAws(server.url)

    expect(await run('get-client', 'c1', '--stage', 'prd')).toStrictEqual({
      code: 1,
      out: '',
      err:
        'there is no function gateway-prd-get-client in ap-southeast-3 of this account; ' +
        'stages with a file: dev, prod',
    })
  })

  it('starts no gateway for a refused connection to AWS', async () => {
    const { run, server } = await cli(CLIENT)
    onAws(server.url)
    await server.close()

    expect((await run('get-client', '--stage', 'prod')).err).toMatch(
      /at lambda.ap-southeast-3.amazonaws.com.*ECONNREFUSED/,
    )
  })

  it.each([
    ['AWS refuses', 'any', 'ExpiredTokenException'],
    ['has no credentials', undefined, 'CredentialsProviderError'],
  ])('says that a call is not done which %s', async (_, key, error) => {
    const { run, server } = await cli(awsError(403, 'ExpiredTokenException'))
    onAws(server.url)
    vi.stubEnv('AWS_ACCESS_KEY_ID', key)
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
    for (const file of ['CONFIG', 'SHARED_CREDENTIALS']) vi.stubEnv(`AWS_${file}_FILE`, '/dev/null')

    expect((await run('get-client', '--stage', 'prod')).err).toContain(`it is not done: ${error}`)
  })

  it('gives the approval that a refusal asks for as a command for the same stage', async () => {
    const hint = approvalHint({ action: 'recredit-settlement', payload: { settlement_id: 's1' } })
    const refused = { message: 'no', code: 'validation', action_hint: hint }
    const { run, server } = await cli(json(200, { status: 422, body: refused }))
    onAws(server.url)
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
})

/** Wider than a cell. */
const WARNING = 'needs an approval of {"unproven":95901,"findings":2}'

it('npm run admin -- today shows what waits for an operator, and each question that was refused or failed', async () => {
  const recorded = [
    { id: 's1', net_minor: 5, batch: null, warning: WARNING },
    { id: 's4', net_minor: 6, batch: 7, warning: null },
  ]
  const failed = [
    { id: 's2', net_minor: 7, recredited_at: null },
    { id: 's3', recredited_at: '2026-11-20' },
  ]
  const answers: Record<string, object> = {
    '{"status":"recorded","per_page":100}': { data: recorded },
    '{"status":"open","kind":"case","per_page":100}': {
      data: [{ suspense_id: 'c1', due_at: '2026-12-01', cause: 'dispute' }],
    },
    '{}': { balanced: false, differences: [{ what: 'window.paid', id: 'c1' }] },
  }
  const { run, called } = await cli((response, request) => {
    const { body } = request
    if (body.includes('"money"'))
      return response.writeHead(200, { 'x-amz-function-error': 'Unhandled' }).end('{}')
    const isRefused = body.includes('"finding"')
    const ofFailed = body.startsWith('{"status":"failed","from":"20') ? { data: failed } : undefined
    const answer = { status: 200, body: answers[body] ?? ofFailed ?? { data: [] } }
    return json(200, isRefused ? refusedWith('no') : answer)(response, request)
  })

  const { code, out, err } = await run('today')

  const refused = 'list-suspense was refused (422 validation): no'
  expect([code, err]).toStrictEqual([1, `gateway-local-list-suspense failed: {}\n${refused}`])
  expect(
    out.split('\n').filter((line) => /: (none|\d)|^ *(s\d|2026|win|7 )/.test(line)),
  ).toStrictEqual([
    'Settlements to pay out, which wait for payout-file: 1',
    's1          5',
    'Of these, what needs bank details or an approval: 1',
    `s1  ${WARNING}`,
    'Settlements of a batch, which wait for payout-answer, or payout-file if it is cancelled: 1',
    '    7  s4          6',
    'Payouts of 60 days that failed and wait for recredit-settlement: 1',
    's2          7',
    'Cases to answer: 1',
    '2026-12-01  c1           dispute',
    'Differences of the books: 1',
    'window.paid  c1',
  ])
  for (const { url, body } of called()) {
    const [, action = ''] = /local-(.+)\//.exec(url) ?? []
    const { input } = await handlerOf(action)
    expect(parsePayload(input, body, false)).toMatchObject({ payload: body })
  }
})

it('npm run admin prints a script that completes actions, their fields and stages in bash', async () => {
  const { run } = await cli(CLIENT)
  const { out } = await run('completion')
  const completed = (...words: string[]) => {
    const line = ['gateway-admin', ...words].map((word) => `'${word}'`).join(' ')
    const typed = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _gateway_admin; echo "\${COMPREPLY[*]}"`
    return spawnSync('bash', ['-c', `${out}\n${typed}`], { encoding: 'utf8' }).stdout.trim()
  }

  expect(completed('list-cl')).toBe('list-clients')
  expect(completed('tod')).toBe('today')
  expect(completed('get-client', '--cl')).toBe('--client_id')
  expect(completed('get-client', '--pa')).toBe('--payload')
  expect(completed('payout-file', '--ou')).toBe('--out')
  expect(completed('get-client', 'c1', '--stage', 'pr')).toBe('prod')
  expect(out).not.toContain('npm')
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

it('npm run admin -- today names once what it could not read, and ends with 1', async () => {
  const { run } = await cli((response, request) => {
    const unreadable = request.body.includes('"recorded"')
      ? ['settlement-1']
      : request.body.includes('"kind"')
        ? ['suspense-1']
        : []
    const data =
      unreadable[0] === 'settlement-1' ? Array.from({ length: 99 }, () => ({ batch: 1 })) : []
    const complete = !request.body.includes('"money"')
    const body = { data, complete, ...(unreadable.length > 0 && { unreadable_ids: unreadable }) }
    json(200, { status: 200, body })(response, request)
  })

  const { code, out, err } = await run('today')

  const after = 'Give the ids to the owner of the code.'
  expect(code).toBe(1)
  expect(out).toContain('which wait for payout-file: none of the first 99\n')
  expect(out).toContain('Money in suspense: none of those that were read')
  expect(err.split('\n').filter((line) => line.startsWith('list-'))).toStrictEqual([
    `list-settlements: rows that cannot be read, and may wait too: settlement-1. ${after}`,
    `list-suspense: rows that cannot be read, and may wait too: suspense-1. ${after}`,
    'list-suspense did not read all rows. Older rows may wait too: ' +
      'npm run -s admin -- list-suspense --status open shows all, page by page.',
  ])
})

it('npm run admin names the file of a batch that it cannot write, although no approvals can be written', async () => {
  const folder = tempDirectory()
  const file = { name: 'payout-0001.csv', text: 'a' }
  for (const name of [file.name, 'payout-approvals.csv']) mkdirSync(join(folder, name))
  const batch = { number: 1, count: 1, state: 'ready', total_minor: 1, digest: 'd' }
  const ids = { settlement_id: 's', client_id: 'c', amount_minor: 1, command: null }
  const left_out = [{ ...ids, reason: 'changed', confirm: { bank: 'b' } }]
  const { run, called } = await cli(json(200, { status: 200, body: { batch, file, left_out } }))

  const { code, err } = await run('payout-file', '--out', folder)
  rmdirSync(join(folder, file.name))
  const written = await run('payout-file', '--out', folder)

  expect([code, written.code]).toStrictEqual([2, 1])
  expect(err).toContain('payout-approvals.csv cannot be written')
  expect(err).toContain('--batch 1 --out FOLDER writes it again')
  expect(written.err).toContain('a spreadsheet drops zeros')
  await run('payout-file', '--out', join(folder, 'none'))
  expect(called()).toHaveLength(2)
})
