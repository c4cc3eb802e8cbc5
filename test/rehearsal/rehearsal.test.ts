import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type Rehearsal, startRehearsal } from './rehearsal.ts'
import { runTool } from './run-tool.ts'

const never = new Promise<never>(() => undefined)
const fails = async (): Promise<{ readonly id: string }> => {
  throw new Error('broken')
}

let rehearsal: Rehearsal
let told: string[]
beforeEach(() => {
  told = []
  vi.spyOn(console, 'log').mockImplementation((line) => void told.push(String(line).replace(/^ +[\d.]+ s {2}/, '')))
  const parts = { directory: 'none', env: {}, clock: {}, world: {}, envOf: () => ({}), stepMs: 50 }
  rehearsal = startRehearsal(parts as unknown as Parameters<typeof startRehearsal>[0])
})

describe('a step of the rehearsal', () => {
  it('that fails is reported, and stops only the steps that read what it would have made', async () => {
    const { step } = rehearsal
    const created = await step('created', fails)
    const paid = await step('paid', async () => ({ id: `${created.id} paid` }))
    await step('announced', async () => paid.id)

    expect(await step('another', async () => ({ id: 'p1' }))).toStrictEqual({ id: 'p1' })
    expect(told).toStrictEqual([
      'FAILED  created: broken',
      'NOT RUN  paid: it needs: created',
      'NOT RUN  announced: it needs: paid',
      'another',
    ])
    expect(rehearsal.failures()).toStrictEqual(['FAILED  created', 'NOT RUN  paid', 'NOT RUN  announced'])
  })

  it.each([
    ['text', (made: unknown) => String(made)],
    ['a function', (made: unknown) => (made as () => void)()],
    ['parts', (made: unknown) => (made as { readonly one: string }).one],
  ])('is not run when it takes what was not made for %s', async (_, use) => {
    const made = await rehearsal.step('made', fails)
    await rehearsal.step('used', async () => use(made))

    expect(rehearsal.failures()).toStrictEqual(['FAILED  made', 'NOT RUN  used'])
  })

  it('is not run when one that it names among its needs failed, whatever that makes', async () => {
    const { step } = rehearsal
    const closed = await step('closed', fails)
    const opened = await step('opened', async () => undefined, [closed])
    await step('used', async () => undefined, [opened])
    await step('apart', async () => undefined, [await step('fine', async () => undefined)])

    expect(rehearsal.failures()).toStrictEqual(['FAILED  closed', 'NOT RUN  opened', 'NOT RUN  used'])
  })

  it('that never ends is given up after its time, and the next one runs', async () => {
    await rehearsal.step('hangs', () => never)
    await rehearsal.step('next', async () => undefined)

    expect(told).toStrictEqual(['FAILED  hangs: it took longer than 0.05 s', 'next'])
  })
})

it('a program that takes too long ends with all that it started, though these hold its output open', async () => {
  const { code, errors } = await runTool('sh', ['-c', 'sleep 60 & sleep 60'], { deadlineMs: 300 })

  expect(code).not.toBe(0)
  expect(errors).toContain('ended after 0.3 s')
})
