import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { startAlertInbox } from '../../../infra/local/emulators/alert-inbox.ts'
import { startQueueEmulator } from '../../../infra/local/emulators/queue-emulator.ts'
import { openDataDirectory } from '../../../infra/local/process/data-directory.ts'
import { readJsonFile } from '../../../infra/local/process/json-file.ts'
import { commandOf, runningProcess, writeProcessRecord } from '../../../infra/local/process/process-record.ts'
import { eventually } from '../../support/eventually.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

describe('a JSON file of the data directory', () => {
  it('is undefined when absent, and an error without its content when it does not fit', () => {
    const path = join(tempDirectory(), 'file.json')

    expect(readJsonFile(path, v.unknown())).toBeUndefined()
    writeFileSync(path, '{"secret": 1')
    expect(() => readJsonFile(path, v.object({}))).toThrow(/^(?!.*secret).*file\.json is invalid/)
  })
})

// That they arrive from the topic: `test/e2e/local-gateway.test.ts`.
describe('the operators’ alerts', () => {
  const alert = { kind: 'delivery.abandoned', subject: 'a subject', message: 'a message' }
  const [earlier, now] = ['2026-11-20T03:00:00.000Z', '2026-11-20T04:00:00.000Z'] as const

  it('are taken once after a crash between file and queue, and a line cut by a crash is dropped', async () => {
    const file = join(tempDirectory(), 'alerts.jsonl')
    const { queue, sqs, close } = await startQueueEmulator()
    const queueUrl = await queue('operator')
    const send = (body: string) => sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body }))
    const { MessageId: id } = await send(JSON.stringify(alert))
    appendFileSync(file, `${JSON.stringify({ id, at: earlier, ...alert })}\n{"id":"cut`)

    const inbox = startAlertInbox({ sqs, queueUrl, clock: { nowMs: () => Date.parse(now) }, file })
    await send('no alert')

    await eventually(() =>
      expect(inbox.alerts()).toStrictEqual([
        { at: earlier, ...alert },
        { at: now, kind: 'unreadable', subject: '', message: 'no alert' },
      ]),
    )
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3)
    await inbox.close()
    await close()
  })
})

describe('a data directory', () => {
  it('ends the DynamoDB Local a killed gateway left, and no program that has one of its pids now', async () => {
    const path = tempDirectory()
    const record = join(path, 'dynamodb.pid')
    const orphan = spawn('sh', ['-c', 'sleep 100; true', 'DynamoDBLocal.jar'], { stdio: 'ignore' })
    const innocent = spawn('sleep', ['100'], { stdio: 'ignore' })
    await eventually(() => expect(commandOf(orphan.pid ?? 0)).toContain('DynamoDBLocal.jar'))
    const gone = once(orphan, 'exit')
    writeProcessRecord(join(path, 'gateway.pid'), { pid: process.pid, command: 'node infra/local/main.ts' })

    for (const { pid = 0 } of [innocent, orphan]) {
      writeProcessRecord(record, { pid, command: `${commandOf(pid)}` })
      const opened = await openDataDirectory(path)
      opened.close()
    }

    await gone
    expect(commandOf(innocent.pid ?? 0)).toBe('sleep 100')
    expect(runningProcess(record)).toBeUndefined()
    innocent.kill('SIGKILL')
  })
})
