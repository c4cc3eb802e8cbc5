import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { openDataDirectory } from '../../../infra/local/process/data-directory.ts'
import { readJsonFile } from '../../../infra/local/process/json-file.ts'
import { commandOf, runningProcess, writeProcessRecord } from '../../../infra/local/process/process-record.ts'
import { eventually } from '../../support/eventually.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

it('a JSON file of the data directory is undefined when absent, and an error without its content when it does not fit', () => {
  const path = join(tempDirectory(), 'file.json')

  expect(readJsonFile(path, v.unknown())).toBeUndefined()
  writeFileSync(path, '{"secret": 1')
  expect(() => readJsonFile(path, v.object({}))).toThrow(/^(?!.*secret).*file\.json is invalid/)
})

it('a data directory ends the DynamoDB Local a killed gateway left, and no program that has one of its pids now', async () => {
  const path = tempDirectory()
  const record = join(path, 'dynamodb.pid')
  const orphan = spawn('sh', ['-c', 'sleep 100; true', 'DynamoDBLocal.jar'], { stdio: 'ignore' })
  const innocent = spawn('sleep', ['100'], { stdio: 'ignore' })
  await eventually(() => expect(commandOf(orphan.pid ?? 0)).toContain('DynamoDBLocal.jar'))
  const ended = once(orphan, 'exit')
  writeProcessRecord(join(path, 'gateway.pid'), { pid: process.pid, command: 'node infra/local/main.ts' })

  for (const { pid = 0 } of [innocent, orphan]) {
    writeProcessRecord(record, { pid, command: `${commandOf(pid)}` })
    const opened = await openDataDirectory(path)
    opened.close()
  }

  await ended
  expect(commandOf(innocent.pid ?? 0)).toBe('sleep 100')
  expect(runningProcess(record)).toBeUndefined()
  innocent.kill('SIGKILL')
})
