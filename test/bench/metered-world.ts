import * as v from 'valibot'
import { isHttp, queuesOf } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import type { LogCode } from '../../shared/log.ts'
import type { QueueName } from '../../shared/queues.ts'
import { joiningLog, logInOneLine } from '../../shared/runtime/json-log.ts'
import { HISTORY_STEPS } from '../../shared/stage-settings.ts'
import { invoke } from '../simulation/world/lambda.ts'
import { sqsEvent } from '../simulation/world/sim-queue.ts'
import { createWorld, MAX_ROWS_A_PAGE, runUntil, type World } from '../simulation/world/world.ts'
import { emittedBy } from '../support/emitted-by.ts'
import type { ASSUMPTIONS } from './assumptions.ts'
import { meterTable } from './meter-table.ts'

type FunctionName = keyof typeof ASSUMPTIONS.billedMs

export function specOf(name: string) {
  const spec = MANIFEST.find((entry) => entry.name === name)
  if (!spec) throw new Error(`there is no function ${name}`)
  return spec
}

/**
 * The simulation's world without faults: real handlers, the table in memory, the provider's
 * simulator and one clock. Every run has the same ids. An id decides the slot, whose number has one
 * or two digits, so sizes depend on it.
 */
export function faultlessWorld() {
  return createWorld({ seed: 1, historySteps: HISTORY_STEPS, rowsAPage: MAX_ROWS_A_PAGE })
}

/** Throws when the handler fails, because a failed flow costs too little. */
export async function runHandler(world: World, functionName: string, event: object) {
  const invocation = await runUntil(world, invoke(world, functionName, event))
  if (invocation.kind !== 'done') throw new Error(`${functionName} ${invocation.kind}`)
  return invocation.result
}

const SOURCES = MANIFEST.flatMap(({ name, trigger }) =>
  queuesOf(trigger).map((source) => ({ name, ...source })),
)
const NoFailures = v.optional(v.object({ batchItemFailures: v.optional(v.strictTuple([])) }))

/** Only the benchmark invokes the functions of this world. */
export async function startMeteredWorld() {
  const world = faultlessWorld()
  const units = meterTable(world.table)
  const callbacks: { readonly headers: Readonly<Record<string, string>>; readonly body: string }[] =
    []
  let sent = 0
  world.onChange.push((change) => world.table.applyToIndexes(change))
  world.onSent.push(() => void sent++)
  world.sendCallback = async (body, headers) => {
    callbacks.push({ body, headers })
    return 200
  }

  const measure = async (functionName: FunctionName, name: string, run: () => Promise<unknown>) => {
    units.take()
    world.provider.resetCalls()
    sent = 0
    const firstLine = world.logLines.length
    await run()
    const lines = await writtenLines(functionName, world.logLines.slice(firstLine))
    const used = units.take()
    return {
      name,
      functionName,
      /** Invocations of the function for one payment; below 1 if one run serves many payments. */
      invocations: 1,
      ...used,
      messages: sent,
      detail: { ...used.detail, ...providerCalls(world.provider.callCounts()) },
      logBytes: lines.reduce((sum, { bytes }) => sum + bytes, 0),
      /**
       * Custom metrics, as CloudWatch bills them: a name with the values of one set of dimensions.
       */
      metrics: [...new Set(lines.flatMap(({ metrics }) => metrics))],
    }
  }
  const run = (functionName: string, event: object) => runHandler(world, functionName, event)
  /** False when the queue is empty. */
  const handleBatch = async (from: QueueName, most?: number) => {
    const source = SOURCES.find(({ queue }) => queue === from)
    const messages = world.queues[from].receive({
      max: most ?? source?.batchSize ?? 1,
      nowMs: world.scheduler.nowMs(),
    })
    if (messages.length === 0) return false
    v.parse(NoFailures, await run(source?.name ?? from, sqsEvent(messages)))
    for (const { receipt } of messages) world.queues[from].remove(receipt)
    return true
  }
  const drainQueues = async () => {
    let worked = false
    for (const { queue } of SOURCES) while (await handleBatch(queue)) worked = true
    if (worked) await drainQueues()
  }
  const passTime = (ms: number) => world.scheduler.runUntil(world.scheduler.nowMs() + ms)
  return {
    world,
    callbacks,
    measure,
    run,
    handleBatch,
    drainQueues,
    passTime,
    writtenIn: units.writtenIn,
  }
}

export const BENCH_STAGE = 'gateway-prod'

export type MeteredWorld = Awaited<ReturnType<typeof startMeteredWorld>>
export type Flow = Awaited<ReturnType<MeteredWorld['measure']>>

const SimLine = v.objectWithRest(
  {
    level: v.picklist(['info', 'warn', 'error']),
    code: v.custom<LogCode>((code) => typeof code === 'string'),
  },
  v.union([v.string(), v.number(), v.boolean()]),
)

async function writtenLines(functionName: FunctionName, simulated: readonly string[]) {
  const written: string[] = []
  const timestamp = '2026-11-20T04:00:00.000Z'
  const log = joiningLog((level, message, line) => {
    written.push(JSON.stringify({ service: BENCH_STAGE, level, message, timestamp, ...line }))
  })
  const write = async () => {
    for (const line of simulated) {
      const { level, code, ...fields } = v.parse(SimLine, JSON.parse(line))
      log[level](code, fields)
    }
  }
  await (isHttp(specOf(functionName)) ? logInOneLine(write) : write())
  return written.map((text) => ({
    bytes: Buffer.byteLength(text) + 1,
    metrics: emittedBy(text).map(({ name, dimensions }) =>
      [name, ...Object.values(dimensions)].join(' '),
    ),
  }))
}

function providerCalls(counts: Readonly<Record<string, number>>) {
  return Object.fromEntries(
    Object.entries(counts).map(([name, calls]) => [
      name.startsWith('rows ') ? name : `provider ${name}`,
      calls,
    ]),
  )
}
