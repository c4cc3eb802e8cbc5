import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CreateTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import { describe, expect, it, vi } from 'vitest'
import { createTable } from '../../../infra/local/emulators/create-table.ts'
import { dockerCommand } from '../../../infra/local/emulators/dynamodb-command.ts'
import {
  NoDynamoDbLocal,
  startDynamoDbLocal,
} from '../../../infra/local/emulators/dynamodb-local.ts'
import { localAws } from '../../../infra/local/emulators/local-aws.ts'
import { createMemoryTable } from '../../../infra/local/emulators/memory-table/memory-table.ts'
import { openDataDirectory } from '../../../infra/local/process/data-directory.ts'
import { readJsonFile } from '../../../infra/local/process/json-file.ts'
import {
  commandOf,
  runningProcess,
  writeProcessRecord,
} from '../../../infra/local/process/process-record.ts'
import { exists, guard, put, update } from '../../../shared/table/step.ts'
import { describeOnDynamoDb, dynamoDb } from '../../support/dynamodb.ts'
import { eventually } from '../../support/eventually.ts'
import { machineWith, tempDirectory } from '../../support/temp-directory.ts'

it('DynamoDB Local in Docker, for a machine without Java, runs on a loopback port, on our files, and is removed by name when its client ends', () => {
  const { program, args, alsoOnEnd } = dockerCommand({ port: 8123, dataDirectory: '/data/table' })
  const name = args.find((arg) => arg.startsWith('--name='))?.slice('--name='.length)

  const started = [program, ...args].join(' ')
  expect(started).toMatch(
    /^docker run --rm .* -jar DynamoDBLocal.jar -disableTelemetry -port 8123 -dbPath \/data$/,
  )
  for (const place of ['--publish=127.0.0.1:8123:8123', '--volume=/data/table:/data'])
    expect(args).toContain(place)
  expect(alsoOnEnd).toBe(`docker stop --time 5 ${name}; docker rm --force ${name}`)
})

const onDynamoDb = await describeOnDynamoDb()
onDynamoDb('DynamoDB Local', () => {
  it('listens on 127.0.0.1 alone', () => {
    const { hostname, port } = new URL(dynamoDb().endpoint)
    expect(hostname).toBe('127.0.0.1')
    const listening = ['/proc/net/tcp', '/proc/net/tcp6']
      .flatMap((file) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []))
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local = '', , state]) => state === '0A' && local.endsWith(portInHex(port)))
      .map(([, local = '']) => local.split(':')[0])

    expect(new Set(listening)).toStrictEqual(new Set(['0000000000000000FFFF00000100007F']))
  })

  it('refuses the tables of another version of the schema, and keeps those of this version', async () => {
    const { endpoint } = dynamoDb()
    const TableName = `other-${crypto.randomUUID()}`
    const client = new DynamoDBClient(localAws(endpoint))
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      }),
    )
    client.destroy()

    await expect(createTable(endpoint, TableName)).rejects.toThrow(
      'has the indexes of another version; start with a new data directory',
    )
    await expect(createTable(endpoint, dynamoDb().tableName)).resolves.toBeUndefined()
  })

  it('hides its tables from callers without the access key of this start', async () => {
    const { endpoint, tableName } = dynamoDb()
    const ownAws = localAws(endpoint)
    const tablesFor = async (accessKeyId: string) => {
      const credentials = { accessKeyId, secretAccessKey: 'local' }
      const client = new DynamoDBClient({ ...ownAws, credentials })
      const { TableNames } = await client.send(new ListTablesCommand({}))
      client.destroy()
      return TableNames
    }

    expect(await tablesFor(ownAws.credentials.accessKeyId)).toContain(tableName)
    expect(await tablesFor('local')).toStrictEqual([])
  })

  it('has a new access key if a kill left the file of the key empty, in a folder beyond ASCII', async () => {
    const folder = join(tempDirectory(), 'ünï')
    mkdirSync(folder)
    vi.stubEnv('LC_ALL', 'POSIX')
    writeFileSync(join(folder, 'access-key'), '')

    const { endpoint, close } = await startDynamoDbLocal(folder)
    await close()

    const { accessKeyId } = localAws(endpoint).credentials
    expect(accessKeyId).toMatch(/^[0-9a-f]{40}$/)
    expect(readFileSync(join(folder, 'access-key'), 'utf8')).toBe(accessKeyId)
    for (const name of ['access-key', 'local_region.db']) writeFileSync(join(folder, name), '')
    await expect(startDynamoDbLocal(folder)).rejects.toThrow('access-key lost the key')
  })
})

function portInHex(port: string) {
  return `:${Number(port).toString(16).toUpperCase().padStart(4, '0')}`
}

it('a data directory is for its owner alone, also an older one', async () => {
  const path = join(tempDirectory(), 'data')
  mkdirSync(path, { mode: 0o755 })

  const data = await openDataDirectory(path)
  data.close()

  for (const directory of [data.path, data.table]) expect(statSync(directory).mode & 0o077).toBe(0)
})

const NO_DAEMON = 'echo "Cannot connect to the Docker daemon" >&2; exit 1'
const JAVA_11 =
  'if [ "$1" = -version ]; then echo \'openjdk version "11.0.2"\' >&2; else exit 1; fi'

describe('a machine that cannot start DynamoDB Local', () => {
  it.each([
    [
      'has a java that only says where to get Java',
      { java: 'echo "Unable to locate a Java Runtime" >&2; exit 1' },
    ],
    ['has an old Java, and a Docker that does not run', { java: JAVA_11, docker: NO_DAEMON }],
  ])('is no failed start if it %s', async (_, programs) => {
    machineWith(programs)

    await expect(startDynamoDbLocal()).rejects.toThrow(NoDynamoDbLocal)
  })

  it('is no machine with a fit Java: a start that fails there is an error', async () => {
    machineWith({
      java:
        'if [ "$1" = -version ]; then echo \'openjdk version "17.0.1"\' >&2; else echo "no ' +
        'memory" >&2; exit 1; fi',
    })

    await expect(startDynamoDbLocal()).rejects.toThrow('DynamoDB Local did not start: no memory')
  })
})

it('the table in memory refuses to guess about what it does not model', () => {
  const key = { pk: 'PAYMENT#1', sk: 'PAYMENT' }
  const { write, transact } = createMemoryTable().requests
  write(put(key, { amount: Number.MAX_SAFE_INTEGER }))
  const outside = expect.objectContaining({ name: 'OutsideModel' })
  const large = Array.from({ length: 11 }, (_, at) =>
    put({ pk: key.pk, sk: String(at) }, { a: 'x'.repeat(400_000) }),
  )

  expect(() => write(update(key, { add: { amount: 1 } }))).toThrow(outside)
  expect(() => write(guard(key, exists))).toThrow(outside)
  expect(() => transact(large)).toThrow(outside)
})

it('a JSON file of the data directory is undefined when absent, and an error without its content when it does not fit', () => {
  const path = join(tempDirectory(), 'file.json')

  expect(readJsonFile(path, v.unknown())).toBeUndefined()
  writeFileSync(path, '{"secret": 1')
  expect(() => readJsonFile(path, v.object({}))).toThrow(/^(?!.*secret).*file\.json is invalid/)
})

it('a data directory ends the DynamoDB Local that a killed gateway left, and no program that has its pid now', async () => {
  const path = tempDirectory()
  const record = join(path, 'dynamodb.pid')
  const orphan = spawn('sh', ['-c', 'sleep 100; true', 'DynamoDBLocal.jar'], { stdio: 'ignore' })
  const innocent = spawn('sleep', ['100'], { stdio: 'ignore' })
  await eventually(() => expect(commandOf(orphan.pid ?? 0)).toContain('DynamoDBLocal.jar'))
  const ended = once(orphan, 'exit')
  writeProcessRecord(join(path, 'gateway.pid'), {
    pid: process.pid,
    command: 'node infra/local/main.ts',
  })

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
