import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { runTool } from '../support/run-tool.ts'

export type SeenPayment = {
  readonly id: string
  readonly destination: string
  readonly amount: number
  readonly reference: string
  readonly created_at: string
  readonly expires_at_ms: number
  readonly status: string
  readonly paid_at?: string
  readonly net: number
  readonly fee_status: string
}

/** A call's operation and input; `checker/history.go` says how each model reads them. */
export type Asked = { readonly client: string } & (
  | {
      readonly op: 'create'
      readonly key: string
      readonly reference: string
      readonly amount: number
      readonly valid: boolean
    }
  | { readonly op: 'find'; readonly key: string }
  | { readonly op: 'get' | 'cancel' | 'pay' | 'fail'; readonly payment: string }
  | { readonly op: 'balance' | 'settle' }
  | { readonly op: 'mark_paid'; readonly nets: readonly number[] }
)

/** The outcome of a call. `unknown`: the call may have its effect at any later time, or never. */
export type Outcome =
  | { readonly outcome: 'ok'; readonly seen?: SeenPayment; readonly first?: boolean }
  | {
      readonly outcome: 'ok'
      readonly balance: Readonly<
        Record<'pending' | 'available' | 'in_settlement' | 'paid_out', number>
      >
    }
  | { readonly outcome: 'ok'; readonly nets: readonly number[] }
  | { readonly outcome: 'refused'; readonly status?: string }
  | { readonly outcome: 'absent' | 'unknown' }
  /** An answer that the gateway must never give. */
  | { readonly outcome: 'other'; readonly status: string }

type HistoryRecord = Asked &
  Outcome & {
    /** Nanoseconds of this process's monotonic clock. */
    readonly call: number
    readonly return: number
    /** The latest that the gateway's own clock can have been at the return. */
    readonly clock_ms: number
    readonly rest?: true
  }

export function historyRecorder() {
  const records: HistoryRecord[] = []
  let aheadMs = 0
  let isAtRest = false
  return {
    records: records as readonly HistoryRecord[],
    /** The caller calls it before the gateway's clock jumps. */
    clockJumps: (seconds: number) => {
      aheadMs += seconds * 1_000
    },
    /** From now on no call is under way. */
    rests: () => {
      isAtRest = true
    },
    /** An outcome that says nothing (a read without an answer) is not written down. */
    record: async (asked: Asked, call: () => Promise<Outcome | undefined>) => {
      const called = nanoseconds()
      const outcome = await call()
      if (outcome !== undefined) {
        const clock_ms = Date.now() + aheadMs
        const times = { call: called, return: nanoseconds(), clock_ms }
        records.push({ ...asked, ...outcome, ...times, ...(isAtRest && { rest: true }) })
      }
      return outcome
    },
  }
}

function nanoseconds() {
  return Math.round(performance.now() * 1e6)
}

/**
 * Builds the checker after its tests have shown that it refutes wrong histories. Throws Go's output
 * if they fail.
 */
export async function buildChecker(directory: string) {
  const program = join(directory, 'checker')
  await go('test', '-count=1', '-mod=readonly', './...')
  await go('build', '-mod=readonly', '-o', program, '.')
  return program
}

export type HistoryRecorder = ReturnType<typeof historyRecorder>

async function go(...args: readonly string[]) {
  const { code, output, errors } = await runTool('go', args, {
    cwd: join(import.meta.dirname, 'checker'),
  })
  if (code !== 0) throw new Error(`go ${args[0]} failed:\n${output}${errors}`)
}

const Verdicts = v.array(
  v.object({
    model: v.string(),
    partitions: v.number(),
    operations: v.number(),
    open_ended: v.number(),
    refuted: v.array(v.object({ partition: v.string(), page: v.string() })),
    undecided: v.array(v.string()),
  }),
)

export type Verdict = v.InferOutput<typeof Verdicts>[number]

export async function judgeHistory(
  checker: string,
  records: readonly HistoryRecord[],
  directory: string,
) {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'history.jsonl')
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const { code, output, errors } = await runTool(checker, [file, directory])
  if (code !== 0) throw new Error(`the checker failed:\n${errors}`)
  return v.parse(Verdicts, JSON.parse(output))
}
