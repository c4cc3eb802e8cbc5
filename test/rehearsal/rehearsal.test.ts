import { beforeEach, describe, expect, it, vi } from 'vitest'
import { MANIFEST } from '../../functions/manifest.ts'
import { runTool } from '../support/run-tool.ts'
import { projectText } from '../support/source-file.ts'
import { judgementOn } from './judgement.ts'
import { type Rehearsal, startRehearsal } from './rehearsal.ts'
import { BREAKS } from './steps/update-stage.ts'

const never = new Promise<never>(() => undefined)
async function fails(): Promise<{ readonly id: string }> {
  throw new Error('broken')
}

let rehearsal: Rehearsal
let printed: string[]
let log: string
beforeEach(() => {
  printed = []
  log = ''
  vi.spyOn(console, 'log').mockImplementation(
    (line) => void printed.push(String(line).replace(/^ +[\d.]+ s {2}/, '')),
  )
  rehearsal = startRehearsal({ ...PARTS, log: () => log })
})

/** The steps of these tests use none of the parts. */
const PARTS = {
  directory: 'none',
  release: 'none',
  env: {},
  clock: {},
  world: {},
  envOf: () => ({}),
  stepMs: 50,
} as unknown as Parameters<typeof startRehearsal>[0]
const NO_LINES = '          warnings and errors: 0 log lines'

describe('a part of the rehearsal', () => {
  it('that fails is reported, and stops only the parts that need what it would have made', async () => {
    const { step, part } = rehearsal
    const created = await part('created', [], () => step('a create', fails))
    const paid = await part('paid', [created], ({ id }) => step('a payment', async () => id))
    const other = await part('another', [], () =>
      step('another create', async () => ({ id: 'p1' })),
    )

    expect([created, paid, other]).toStrictEqual([undefined, undefined, { id: 'p1' }])
    expect(printed).toStrictEqual([
      'FAILED  a create: broken',
      NO_LINES,
      'NOT RUN  paid: what it needs was not made',
      'another create',
    ])
    expect(rehearsal.failures()).toStrictEqual(['FAILED  a create', 'NOT RUN  paid'])
  })

  it('is given up when one of its steps takes too long', async () => {
    await rehearsal.part('hangs', [], () => rehearsal.step('a step', () => never))

    expect(printed).toStrictEqual(['FAILED  a step: it took longer than 0.05 s', NO_LINES])
  })

  it('that fails shows the log lines of its own payments, and warnings', async () => {
    const line = (level: string, more: object) =>
      JSON.stringify({ level, message: 'payment.created', ...more })
    log = `${line('WARN', { payment_id: 'p1' })}\n`
    await rehearsal.step('a create', async () => rehearsal.isAbout('p0'))
    const created = line('INFO', { payment_id: 'p1' })
    const failed = line('ERROR', { client_id: 'c1' })

    await rehearsal.part('pays', [], () =>
      rehearsal.step('a payment', async () => {
        rehearsal.isAbout('p1')
        log += ['INFO [lambda] output:', created, line('INFO', { payment_id: 'p2' }), failed].join(
          '\n',
        )
        return fails()
      }),
    )

    expect(printed.slice(1)).toStrictEqual([
      'FAILED  a payment: broken',
      '          payment p1: 1 log lines',
      `            ${created}`,
      '          warnings and errors: 1 log lines',
      `            ${failed}`,
    ])
  })

  it('has more time on a machine whose first step was slow', async () => {
    const { step } = startRehearsal({ ...PARTS, log: () => '', usualFirstMs: 1 })
    const slowly = (ms: number) => () => new Promise((resolve) => setTimeout(resolve, ms, 'done'))

    await step('the first step', slowly(20))

    expect(await step('a later step', slowly(100))).toBe('done')
  })
})

it('a program that takes too long ends with all processes that it started, although they hold its output open', async () => {
  const { code, errors } = await runTool('sh', ['-c', 'sleep 60 & sleep 60'], { deadlineMs: 300 })

  expect(code).not.toBe(0)
  expect(errors).toContain('ended after 0.3 s')
})

it.for(BREAKS)('a release $what is made of the present code', ({ file, change }) => {
  const text = projectText(file)

  expect(change(text)).not.toBe(text)
})

function verdictOn(name: string, denied: string | null = null) {
  return {
    principal: `arn:aws:sts::000000000001:assumed-role/gateway-dev-Role/gateway-dev-${name}`,
    action: 'dynamodb:GetItem',
    resource: 'arn:aws:dynamodb:ap-southeast-3:000000000001:table/gateway-dev',
    kinds: ['PAYMENT'],
    denied,
  }
}

it('the judgement on a rehearsal counts the calls of functions, and names refused calls and functions without a call', () => {
  // The role of api-not-found allows no call.
  const heard = MANIFEST.map(({ name }) => name).filter(
    (name) => !['check-due-deliveries', 'api-not-found'].includes(name),
  )

  const { calls, denied, silent } = judgementOn([
    ...heard.map((name) => verdictOn(name)),
    verdictOn('get-payment', 'No matching Allow statement'),
    { ...verdictOn('x'), principal: 'arn:aws:iam::000000000001:root' },
  ])

  expect([calls.get('get-payment'), calls.size]).toStrictEqual([2, heard.length])
  expect(denied).toStrictEqual([
    'gateway-dev-get-payment dynamodb:GetItem ' +
      'arn:aws:dynamodb:ap-southeast-3:000000000001:table/gateway-dev of PAYMENT: No matching ' +
      'Allow statement',
  ])
  expect(silent).toStrictEqual(['check-due-deliveries'])
})
