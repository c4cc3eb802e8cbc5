import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runs } from '../../support/runs.ts'
import { type Action, modelQueue, play, startEmulatorQueues, VISIBILITY_SECONDS } from './queue-histories.ts'

/**
 * Goal: the simulation's queue does what the emulator of SQS does. Method: the emulator runs in this process, so that
 * both can be put on one clock that only the test moves; told and random histories must look the same on both.
 */
let emulator: Awaited<ReturnType<typeof startEmulatorQueues>>
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20) })
  emulator = await startEmulatorQueues()
})
afterAll(async () => {
  await emulator.close()
  vi.useRealTimers()
})

const playBoth = async (actions: readonly Action[]) => {
  const startMs = Date.now()
  const expected = await play(await emulator.open(), actions, startMs)
  expect(await play(await modelQueue(), actions, startMs)).toStrictEqual(expected)
  return expected
}

const hidden = `wait ${VISIBILITY_SECONDS}`

describe('the model and the emulator', () => {
  it.each<readonly [string, readonly Action[], readonly string[]]>([
    [
      'hide a received message for the visibility timeout, and then give it again',
      ['send', 'receive', 'receive', `wait ${VISIBILITY_SECONDS - 0.001}`, 'receive', 'wait 0.001', 'receive'],
      ['0×1', '', '', '0×2'],
    ],
    [
      'hold a delayed message back',
      ['send 900', 'send', 'receive', 'remove 1', 'wait 899.999', 'receive', 'wait 0.001', 'receive'],
      ['1×1', '', '0×1'],
    ],
    [
      'forget a removed message, and only that one of its batch',
      ['send', 'send', 'send', 'receive', 'remove 1', 'remove 3', hidden, 'receive'],
      ['0×1 1×1 2×1', '1×2'],
    ],
    [
      'remove by a receipt whose time is over, as long as the message was not received again',
      ['send', 'receive', hidden, 'remove 1', 'receive'],
      ['0×1', ''],
    ],
    [
      'do not remove by a receipt older than the newest',
      ['send', 'receive', hidden, 'receive', 'remove 2', hidden, 'receive'],
      ['0×1', '0×2', '0×3'],
    ],
    [
      'give at most as many as asked, and ten',
      [...Array.from({ length: 14 }, () => 'send'), 'receive 3', 'receive 10', 'receive 10'],
      ['0×1 1×1 2×1', '10×1 11×1 12×1 3×1 4×1 5×1 6×1 7×1 8×1 9×1', '13×1'],
    ],
  ])('%s', async (_, actions, seen) => {
    expect(await playBoth(actions)).toStrictEqual({ seen, dead: [] })
  })

  it('set a message aside when it was received too often', async () => {
    const often = Array.from({ length: 4 }, () => ['receive', hidden]).flat()

    expect(await playBoth(['send', ...often])).toStrictEqual({ seen: ['0×1', '0×2', '0×3', ''], dead: ['0'] })
  })

  it('agree on random histories', async () => {
    const action = fc.oneof(
      fc.constantFrom('send', 'send', 'send 10', 'send 60'),
      fc.constantFrom('receive', 'receive', 'wait 1', 'wait 10', 'wait 29', 'wait 30'),
      fc.constantFrom('remove 1', 'remove 2', 'remove 3', 'remove 4'),
    )
    // More messages could not all be received at once, and which of them come first is not promised.
    const atMostTen = (actions: readonly Action[]) => {
      const sends = actions.filter((one) => one.startsWith('send')).slice(0, 10)
      return actions.filter((one) => !one.startsWith('send') || sends.pop() !== undefined)
    }
    const histories = fc.array(action, { minLength: 5, maxLength: 40, size: 'max' })
    const property = fc.asyncProperty(histories, async (actions) => void (await playBoth(atMostTen(actions))))

    await fc.assert(property, { numRuns: runs(30), seed: 20_261_102 })
  })
})
