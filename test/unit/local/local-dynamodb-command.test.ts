import { readdirSync } from 'node:fs'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { createTable } from '../../../infra/local/emulators/create-table.ts'
import { dockerCommand } from '../../../infra/local/emulators/dynamodb-command.ts'
import { localAws, startDynamoDbLocal } from '../../../infra/local/emulators/dynamodb-local.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

describe('DynamoDB Local in Docker, for a machine without Java', () => {
  it('runs on a loopback port, on our files, and is removed by name when its client ends', () => {
    const { program, args, alsoOnEnd } = dockerCommand({ port: 8123, dataDirectory: '/data/table' })
    const name = args.find((arg) => arg.startsWith('--name='))?.slice('--name='.length)

    expect([program, args[0], args[1]]).toStrictEqual(['docker', 'run', '--rm'])
    expect(args).toContain('--publish=127.0.0.1:8123:8123')
    expect(args).toContain('--volume=/data/table:/data')
    expect(args.slice(args.indexOf('-jar')).join(' ')).toBe(
      '-jar DynamoDBLocal.jar -disableTelemetry -port 8123 -dbPath /data',
    )
    expect(alsoOnEnd).toBe(`docker stop --time 5 ${name}; docker rm --force ${name}`)
  })

  it('keeps nothing without a data directory', () => {
    const { args } = dockerCommand({ port: 8123 })

    expect(args.at(-1)).toBe('-inMemory')
    expect(args.join(' ')).not.toContain('--volume')
  })
})

describe('the tables of a data directory', () => {
  it('are found again under its access key', async () => {
    const directory = tempDirectory()
    const tables = async () => {
      const dynamodb = await startDynamoDbLocal(directory)
      const client = new DynamoDBClient(localAws(dynamodb.endpoint))
      const { TableNames } = await client.send(new ListTablesCommand({}))
      if (TableNames?.length === 0) await createTable(dynamodb.endpoint, 'gateway-kept')
      client.destroy()
      await dynamodb.close()
      return TableNames
    }

    expect(await tables()).toStrictEqual([])
    expect(await tables()).toStrictEqual(['gateway-kept'])
    expect(readdirSync(directory).filter((name) => name.endsWith('.db'))).toHaveLength(1)
  })
})
