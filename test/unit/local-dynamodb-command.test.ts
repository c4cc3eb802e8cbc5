import { describe, expect, it } from 'vitest'
import { dockerCommand } from '../../infra/local/dynamodb-command.ts'

describe('DynamoDB Local in Docker, for a machine without Java', () => {
  it('runs on a loopback port, on our files, and is removed by name when its client ends', () => {
    const { program, args, alsoOnEnd } = dockerCommand({ port: 8123, dataDirectory: '/data/table' })
    const name = args.find((arg) => arg.startsWith('--name='))?.slice('--name='.length)

    expect([program, args[0], args[1]]).toStrictEqual(['docker', 'run', '--rm'])
    expect(args).toContain('--publish=127.0.0.1:8123:8123')
    expect(args).toContain('--volume=/data/table:/data')
    expect(args.slice(args.indexOf('-jar'))).toStrictEqual([
      '-jar',
      'DynamoDBLocal.jar',
      '-disableTelemetry',
      '-port',
      '8123',
      '-dbPath',
      '/data',
    ])
    expect(alsoOnEnd).toBe(`docker rm --force ${name}`)
  })

  it('keeps nothing without a data directory', () => {
    const { args } = dockerCommand({ port: 8123 })

    expect(args.at(-1)).toBe('-inMemory')
    expect(args.some((arg) => arg.startsWith('--volume'))).toBe(false)
  })
})
