import type { Deps } from '../../shared/deps.ts'
import { retryingTable, type TableRequests } from '../../shared/runtime/aws/retrying-table.ts'

/** `requests` is the storage below the table's retries. */
export type Outside = Omit<Deps, 'table' | 'stage' | 'resolveHost' | 'memory'> & {
  readonly requests: TableRequests
  readonly stage?: Partial<Deps['stage']>
  readonly resolveHost?: Deps['resolveHost']
}

export function assembledDeps({ requests, stage, ...outside }: Outside): Deps {
  return {
    // A public address, so that names of merchants need no DNS.
    resolveHost: async () => [{ address: '93.184.216.34', family: 4 }],
    ...outside,
    stage: {
      name: 'test',
      allowLoopbackWebhooks: false,
      defaultReturnUrl: 'https://merchant.example/return',
      defaultDisplayName: 'Gateway Test',
      ...stage,
    },
    memory: {},
    table: retryingTable(requests, outside),
  }
}
