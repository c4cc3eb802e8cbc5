import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { openStateFile } from '../../../infra/local/provider-simulator/simulator-store.ts'
import { aCore, aSimulator, simulatorIt as it } from '../../support/provider-simulator-harness.ts'
import { runTool } from '../../support/run-tool.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

describe('the state of the provider simulator', () => {
  it('is JSON, from which another core continues expiries, settlements and callback retries', async ({
    sim,
  }) => {
    sim.receiver.status = 500
    const open = sim.create('DANA')
    sim.pay(sim.create())
    sim.order('create', 'slow', 5, 3)
    await sim.advance(60)
    const snapshot = JSON.parse(JSON.stringify(sim.core.snapshot()))

    const restored = aCore({ restored: snapshot, start: '2026-11-20T04:11:00.000Z' })
    expect(restored.core.snapshot()).toStrictEqual(snapshot)
    await restored.advance(240)
    const settled = restored.rows()[0]?.settlement_status
    const retriedEarly = restored.callbacks.length
    await restored.advance(86_400)

    expect([settled, retriedEarly, restored.statusOf(open)]).toStrictEqual([
      'SETTLED',
      0,
      'EXPIRED',
    ])
    await sim.advance(86_400)
    expect(sim.statusOf(open)).toBe('EXPIRED')
    expect(restored.callbacks[0]?.headers['webhook-id']).toBe(
      sim.callbacks[0]?.headers['webhook-id'],
    )
    expect(restored.core.armedFaults()).toStrictEqual([
      { target: 'create', fault: 'slow', value: 5, times: 3 },
    ])
  })

  it('survives a torn last line in its file, which is compacted at the start, and no other unreadable line', async () => {
    const stateFile = join(tempDirectory(), 'simulator', 'state.jsonl')
    const createOnce = async () => {
      await using simulator = await aSimulator({ stateFile })
      await simulator.create('QRIS')
    }
    await createOnce()
    appendFileSync(stateFile, '[{"table":"requests","id":"pr-torn","rec')
    await createOnce()
    const linesBefore = readFileSync(stateFile, 'utf8').split('\n').length

    await using reopened = await aSimulator({ stateFile })

    expect(
      (await reopened.call('GET', '/_simulator/payment_requests?reference_id=')).body,
    ).toHaveLength(2)
    expect(readFileSync(stateFile, 'utf8').split('\n').length).toBeLessThanOrEqual(linesBefore)
    writeFileSync(stateFile, '[]\nnot json\n')
    expect(() => openStateFile(stateFile)).toThrow(`${stateFile}:2 is invalid`)
  })

  it('has no part of a step that the disk had no room for, and is written whole at the next one', async () => {
    const stateFile = join(tempDirectory(), 'state.jsonl')
    const module = join(PROJECT_ROOT, 'infra/local/provider-simulator/simulator-store.ts')
    const script = `
      const { openStateFile } = await import(${JSON.stringify(module)})
      const file = openStateFile(${JSON.stringify(stateFile)})
      file.rewrite([])
      file.append([])
      const before = file.isLong()
      try { file.append('no room '.repeat(1_000)) } catch { console.log(before, file.isLong()) }`

    // The limit of a file's size refuses the end of a write, as a full disk does.
    const limited = ['-c', 'ulimit -f 4; exec "$0" --input-type=module -e "$1"']
    const { output } = await runTool('sh', [...limited, process.execPath, script])

    expect(output).toBe('false true\n')
    expect(readFileSync(stateFile, 'utf8')).toBe('[]\n')
  })
})
