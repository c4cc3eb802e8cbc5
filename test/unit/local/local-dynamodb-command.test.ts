import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
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
})

describe('the tables of a data directory', () => {
  it('are found again under its access key, and where an older release kept them', async () => {
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
    const files = () => readdirSync(directory).filter((name) => name.endsWith('.db'))

    expect(await tables()).toStrictEqual([])
    expect(await tables()).toStrictEqual(['gateway-kept'])
    renameSync(join(directory, files().join()), join(directory, 'shared-local-instance.db'))
    rmSync(join(directory, 'access-key'))
    expect(await tables()).toStrictEqual(['gateway-kept'])
    expect(files()).toHaveLength(1)
  })
})
