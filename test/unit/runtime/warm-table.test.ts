import { afterEach, describe, expect, it, vi } from 'vitest'
import { warmTable } from '../../../shared/runtime/warm-table.ts'
import type { Table } from '../../../shared/table/table.ts'

afterEach(() => vi.unstubAllEnvs())

/** A table that finds nothing, and the reads that it was asked for. */
const watchedTable = (asked: unknown[]) =>
  ({
    get: async (key) => void asked.push(['get', key]),
    getMany: async (keys) => {
      asked.push(['getMany', keys])
      return []
    },
    query: async (input) => {
      asked.push(['query', input])
      return { items: [], count: 0, cursor: undefined }
    },
  }) as Partial<Table> as Table

const NOTHING = { pk: 'PAYMENT#', sk: 'NOTHING' }
const forEver = () => new Promise<void>(() => {})

const warmed = async (environment: Readonly<Record<string, string>>) => {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  const asked: unknown[] = []
  await warmTable({ table: watchedTable(asked), sleep: forEver })
  return asked
}

describe('the warm read', () => {
  it.each([
    [{}, []],
    [{ WARM_BATCH_GET: 'PAYMENT#' }, [['getMany', [NOTHING]]]],
    [{ WARM_GET: 'PAYMENT#' }, [['get', NOTHING]]],
    [{ WARM_QUERY: 'PAYMENT#' }, [['query', { partition: ['PAYMENT#'], limit: 1, fields: ['pk'] }]]],
    [{ WARM_INDEX: 'by-due' }, [['query', { index: 'by-due', partition: ['NOTHING', -1], limit: 1 }]]],
  ])('is the one that the bundler put in: %j', async (environment, reads) => {
    expect(await warmed(environment)).toStrictEqual(reads)
  })

  it('never stops a start: a table that refuses or hangs is left to the first request', async () => {
    vi.stubEnv('WARM_GET', 'PAYMENT#')
    const refusing = { ...watchedTable([]), get: () => Promise.reject(new Error('refused')) }
    const hanging = { ...watchedTable([]), get: () => new Promise<undefined>(() => {}) }

    await expect(warmTable({ table: refusing, sleep: forEver })).resolves.toBeUndefined()
    await expect(warmTable({ table: hanging, sleep: async () => {} })).resolves.toBeUndefined()
  })
})
