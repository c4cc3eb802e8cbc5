import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { eventually as lookEventually } from '../../infra/local/process/eventually.ts'
import { DEADLINE_MS, runTool } from '../support/run-tool.ts'
import { APPROVER, askedApproval } from '../support/with-approval.ts'
import type { RehearsalClock } from './emulator.ts'
import type { Verdict } from './verdicts.ts'
import { MERCHANT_HOST, type OutsideWorld } from './world.ts'

export const STAGE = 'dev'
export const STACK = `gateway-${STAGE}`
export const OPERATOR = 'rehearsal'

type Made<Needs extends readonly unknown[]> = {
  -readonly [At in keyof Needs]: NonNullable<Needs[At]>
}

type NpmRun = {
  readonly codes?: readonly number[]
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
}

type Parts = {
  readonly directory: string
  readonly env: NodeJS.ProcessEnv
  readonly clock: RehearsalClock
  readonly world: OutsideWorld
  readonly verdicts: () => readonly Verdict[]
  /** The release that is rehearsed: the commands run in its directory. */
  readonly release: string
  readonly log: () => string
  /** The default is longer than the limit of a program (support/run-tool.ts). */
  readonly stepMs?: number
  /** What the first step takes on an idle machine of two cores. */
  readonly usualFirstMs?: number
  readonly envOf: (action: string) => NodeJS.ProcessEnv
}

export function startRehearsal(parts: Parts) {
  const { env, envOf, release, log, stepMs = 1_200_000, usualFirstMs = 1_500 } = parts
  const limits: string[] = []
  const failures: string[] = []
  /** All time limits grow with this factor, which the first step measures. */
  let pace: number | undefined
  const slowed = (ms: number) => ms * (pace ?? 1)
  const payments = new Set<string>()
  const tool = (
    program: string,
    args: readonly string[],
    { env: more, cwd = release }: Omit<NpmRun, 'codes'> = {},
  ) => runTool(program, args, { env: { ...env, ...more }, cwd, deadlineMs: slowed(DEADLINE_MS) })
  /** Throws with the script's output unless it ends with one of these codes. */
  const npm = async (
    [script = '', ...args]: readonly string[],
    { codes = [0], ...how }: NpmRun = {},
  ) => {
    const words = [script, '--', ...args, '--stage', STAGE]
    const ran = await tool('npm', ['run', '-s', ...words], how)
    if (codes.includes(ran.code)) return ran
    throw new Error(
      `npm run ${words.join(' ')} ended with ${ran.code}:\n${lastOf(ran.output)}\n${lastOf(ran.errors)}`,
    )
  }
  return {
    ...parts,
    step: async <T>(what: string, run: () => Promise<T>) => {
      const begun = performance.now()
      const logged = log().length
      payments.clear()
      const report = (said: string) =>
        console.log(`${((performance.now() - begun) / 1_000).toFixed(1).padStart(6)} s  ${said}`)
      try {
        const done = await inTime(run(), slowed(stepMs))
        pace ??= Math.max(1, (performance.now() - begun) / usualFirstMs)
        report(what)
        return done
      } catch (error) {
        failures.push(`FAILED  ${what}`)
        report(`FAILED  ${what}: ${error instanceof Error ? error.message : String(error)}`)
        for (const line of linesAbout(log().slice(logged), [...payments])) console.log(line)
        throw error
      }
    },
    /** A step that fails shows the log lines of its payments. */
    isAbout: (paymentId: string) => void payments.add(paymentId),
    eventually: <T>(otherwise: string, look: () => Promise<T | undefined>) =>
      lookEventually(otherwise, look, { withinMs: slowed(120_000), everyMs: 250 }),
    /**
     * Runs steps that belong together. Undefined if a step failed, or if an earlier part did not
     * make what they need.
     */
    part: async <T, const Needs extends readonly unknown[]>(
      what: string,
      needs: Needs,
      run: (...made: Made<Needs>) => Promise<T>,
    ) => {
      const isMade = (made: readonly unknown[]): made is Made<Needs> =>
        made.every((need) => need !== undefined)
      if (isMade(needs)) return run(...needs).catch(() => undefined)
      failures.push(`NOT RUN  ${what}`)
      console.log(`NOT RUN  ${what}: what it needs was not made`)
      return undefined
    },
    failures: () => failures,
    cannot: (what: string) => void limits.push(what),
    limits: () => limits,
    tool,
    npm,
    deploy: (cwd: string, how?: NpmRun) =>
      npm(['deploy', '--require-approval', 'never'], { ...how, cwd }),
    /**
     * A second person gives the approval that a refusal asks for. Undefined where the action failed
     * with an allowed code.
     */
    admin: async (
      action: string,
      payload: object = {},
      codes: readonly number[] = [0],
    ): Promise<unknown> => {
      const fields = Object.keys(payload).length > 0 ? ['--payload', JSON.stringify(payload)] : []
      // A schedule that has one reserved run may be running.
      const act = (allowed: readonly number[]) =>
        lookEventually(`${action} is not throttled`, async () => {
          const run = ['admin', action, '--json', ...fields]
          const ran = await npm(run, { codes: [...allowed, 1], env: envOf(action) })
          if (ran.code === 1 && ran.errors.includes('repeat the command')) return undefined
          if (allowed.includes(ran.code)) return ran
          throw new Error(`npm run ${run.join(' ')} ended with 1:\n${lastOf(ran.errors)}`)
        })
      const first = await act([...codes, 1])
      const asked = first.code === 1 ? askedApproval(hintIn(first.errors)) : undefined
      if (asked) {
        const figures = ['--action', asked.action, '--payload', JSON.stringify(asked.payload)]
        await npm(['admin', 'approve', '--operator', APPROVER, ...figures], {
          env: envOf('approve'),
        })
      }
      const isRefused = !codes.includes(first.code)
      const { code, output } = asked || isRefused ? await act(codes) : first
      return code === 0 ? JSON.parse(output) : undefined
    },
  }
}

const Refusal = v.pipe(v.string(), v.parseJson(), v.object({ action_hint: v.string() }))

function hintIn(errors: string) {
  const parsed = v.safeParse(Refusal, errors)
  return parsed.success ? parsed.output.action_hint : ''
}

function lastOf(text: string) {
  return text.slice(-4_000)
}

export type Rehearsal = ReturnType<typeof startRehearsal>

/** Late work is not stopped, but the rehearsal continues without it. */
function inTime<T>(work: Promise<T>, ms: number) {
  const late = sleep(ms, undefined, { ref: false }).then(() => {
    throw new Error(`it took longer than ${ms / 1_000} s`)
  })
  return Promise.race([work, late])
}

export function expect(holds: boolean, otherwise: string) {
  if (!holds) throw new Error(otherwise)
}

export async function call<const Schema extends v.GenericSchema>(
  schema: Schema,
  url: string,
  init: RequestInit = {},
  status = 200,
) {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(60_000) })
  const text = await answer.text()
  expect(
    answer.status === status,
    `${init.method ?? 'GET'} ${url} answered ${answer.status}: ${text}`,
  )
  return v.parse(schema, JSON.parse(text))
}

export const HOOKS_URL = `https://${MERCHANT_HOST}/hooks`

/** The lines that are shown for a payment, and of warnings and errors. */
const SHOWN = 5

const LineSchema = v.pipe(
  v.string(),
  v.startsWith('{'),
  v.parseJson(),
  v.object({ level: v.string(), message: v.string() }),
)

/**
 * What the log of the emulator says about a step that failed: the last lines of each payment, and
 * the last warnings and errors of any function.
 */
function linesAbout(log: string, payments: readonly string[]) {
  const lines = log.split('\n').filter((line) => v.is(LineSchema, line))
  const groups = payments.map(
    (id) => [`payment ${id}`, lines.filter((line) => line.includes(id))] as const,
  )
  const bad = lines.filter((line) => /"level":"(WARN|ERROR)"/.test(line))
  return [...groups, ['warnings and errors', bad] as const].flatMap(([what, found]) => [
    `          ${what}: ${found.length} log lines`,
    ...found.slice(-SHOWN).map((line) => `            ${line}`),
  ])
}
