import type { DynamoDBStreamEvent } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { put } from '../../../shared/table/step.ts'
import type { LoadedFunction } from '../world/handlers.ts'
import { createWorld } from '../world/world.ts'
import { connectStream } from './stream-source.ts'

/**
 * Goal: the simulation's reader of the stream does what AWS documents of an event source mapping that splits batches,
 * hears which record failed, and gives up by count and by age. Method: a function that answers as told, and what it is given.
 */
const NAME = 'fan-out-events'
const HOUR_MS = 3_600_000

type Answer = 'done' | 'throws' | `fails ${string}`

/** What the reader hands on, by the events' types, of four of one payment: the first waits alone until there is a run for it. */
const handedOn = async (answer: (types: readonly string[], run: number) => Answer, stoppedMs = 500) => {
  const batches: string[] = []
  const handle = async (event: unknown) => {
    const records = (event as DynamoDBStreamEvent).Records
    const types = records.map(({ dynamodb }) => dynamodb?.Keys?.['sk']?.S?.replace('EVENT#', '') ?? '')
    batches.push(types.join(''))
    const told = answer(types, batches.length)
    if (told === 'throws') throw new Error('as told')
    const failed = told === 'done' ? undefined : records[types.indexOf(told.slice(-1))]?.dynamodb?.SequenceNumber
    return { batchItemFailures: failed === undefined ? [] : [{ itemIdentifier: failed }] }
  }
  const spec = MANIFEST.find(({ name }) => name === NAME)
  if (!spec) throw new Error('no reader of the stream')
  const loaded: LoadedFunction = { spec, build: () => handle }
  const world = createWorld({ seed: 1, functions: new Map([[NAME, loaded]]) })
  connectStream(world)
  world.stretches.set('stream stopped', { isOn: true, untilMs: world.scheduler.nowMs() + stoppedMs })
  world.faults = { ...world.faults, streamStopped: Number.MIN_VALUE }
  for (const type of ['a', 'b', 'c', 'd']) world.table.requests.write(put({ pk: 'PAYMENT#1', sk: `EVENT#${type}` }, {}))
  await world.scheduler.runUntil(world.scheduler.nowMs() + 3 * HOUR_MS)
  return { batches, dead: world.deadStreamRecords }
}

const times = (count: number, batch: string) => Array.from({ length: count }, () => batch)

describe('the reader of the stream', () => {
  it('goes on at the record that is named, and repeats nothing before it', async () => {
    const { batches, dead } = await handedOn((_, run) => (run === 2 ? 'fails c' : 'done'))

    expect({ batches, dead }).toStrictEqual({ batches: ['a', 'bcd', 'cd'], dead: [] })
  })

  it('splits a batch that fails, which counts as no retry, and gives up one record alone', async () => {
    const { batches, dead } = await handedOn((types) => (types.includes('c') ? 'throws' : 'done'))

    expect({ batches, dead }).toStrictEqual({ batches: ['a', 'bcd', 'bc', 'b', ...times(6, 'c'), 'd'], dead: [3] })
  })

  it('tries what is throttled until it is an hour old, and then gives it up', async () => {
    expect(await handedOn(() => 'done', HOUR_MS / 2)).toStrictEqual({ batches: ['a', 'bcd'], dead: [] })
    expect(await handedOn(() => 'done', 2 * HOUR_MS)).toStrictEqual({ batches: [], dead: [1, 2, 3, 4] })
  })
})
