import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import type { HistoryRecord } from './history-record.ts'

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

/** What one model says of a history. */
export type Verdict = v.InferOutput<typeof Verdicts>[number]

const CHECKER = join(import.meta.dirname, 'checker')

type Ended = { readonly code: number | null; readonly output: string }

/** What the command printed, and its code; undefined where there is no such program. */
const run = async (program: string, args: readonly string[]): Promise<Ended | undefined> => {
  const child = spawn(program, args, { cwd: CHECKER, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  try {
    const [code] = await once(child, 'close')
    return { code, output }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

const go = async (...args: readonly string[]): Promise<string> => {
  const ended = await run('go', args)
  if (ended?.code !== 0) throw new Error(`go ${args[0]} failed:\n${ended?.output}`)
  return ended.output
}

export const hasGo = async (): Promise<boolean> => (await run('go', ['version'])) !== undefined

/** Builds the checker once its own tests have shown that it refutes what it must. Throws what Go says otherwise. */
export const buildChecker = async (directory: string): Promise<string> => {
  const program = join(directory, 'checker')
  await go('test', '-count=1', '-mod=readonly', './...')
  await go('build', '-mod=readonly', '-o', program, '.')
  return program
}

/** Writes the history down, one call a line, and has it judged; beside it lie the pages of what is refuted. */
export const judgeHistory = async (
  checker: string,
  records: readonly HistoryRecord[],
  directory: string,
): Promise<readonly Verdict[]> => {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'history.jsonl')
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const ended = await run(checker, [file, directory])
  if (ended?.code !== 0) throw new Error(`the checker failed:\n${ended?.output}`)
  return v.parse(Verdicts, JSON.parse(ended.output))
}
