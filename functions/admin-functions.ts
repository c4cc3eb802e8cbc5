import { allAccess, type TableAccess } from '../shared/table/access.ts'
import { type Access, ASKS_PROVIDER, DEFAULTS } from './function-defaults.ts'
import type { FunctionSpec } from './function-spec.ts'
import {
  AUDITING,
  changed,
  DELIVERY_LISTS,
  FUNDING,
  listed,
  NEWS,
  REDELIVERING,
  SETTLING,
  TIMELINE,
} from './table-access.ts'

const admin = (file: string, table: TableAccess, access: Access = {}): FunctionSpec => ({
  ...DEFAULTS,
  name: file,
  entry: `functions/admin/${file}.ts`,
  trigger: { kind: 'operator' },
  table,
  // An operator waits for it. Longer ones read a client's books, as settling does.
  timeoutSeconds: 60,
  ...access,
})

/** What operators invoke. */
export const ADMIN_FUNCTIONS: readonly FunctionSpec[] = [
  admin('create-client', { PutItem: ['AUDIT', 'CLIENT', 'LEDGER'] }),
  admin('update-client', changed('CLIENT')),
  admin('get-client', { GetItem: ['CLIENT'] }),
  admin('list-clients', listed('CLIENT', 'by-owner')),
  admin('issue-api-key', { PutItem: ['APIKEY', 'AUDIT'], ConditionCheckItem: ['CLIENT'] }),
  admin('revoke-api-key', changed('APIKEY')),
  admin('list-api-keys', allAccess({ GetItem: ['CLIENT'] }, listed('APIKEY', 'by-owner'))),
  admin(
    'register-endpoint',
    { GetItem: ['CLIENT'], Query: ['ENDPOINTS'], PutItem: ['AUDIT', 'ENDPOINTS'] },
    { secrets: ['create-endpoints'] },
  ),
  admin('update-endpoint', changed('ENDPOINTS')),
  admin('delete-endpoint', changed('ENDPOINTS'), { secrets: ['delete-endpoints'] }),
  admin('list-endpoints', { GetItem: ['CLIENT'], Query: ['ENDPOINTS'] }),
  admin('send-test-event', { GetItem: ['ENDPOINTS'], PutItem: ['AUDIT', 'DELIVERY'] }, { sends: ['webhooks'] }),
  admin('get-payment', TIMELINE),
  admin('find-payments', allAccess({ Query: ['DESTINATION'] }, listed('PAYMENT', 'by-owner'))),
  admin('refresh-payment', allAccess(NEWS, TIMELINE, { PutItem: ['AUDIT'] }), ASKS_PROVIDER),
  admin('list-deliveries', DELIVERY_LISTS),
  admin('redeliver', REDELIVERING, { sends: ['webhooks'], alerts: true }),
  admin('trigger-settlement', SETTLING, { ...ASKS_PROVIDER, sends: ['settlements'], timeoutSeconds: 300 }),
  admin('list-settlements', allAccess({ GetItem: ['CLIENT'] }, listed('SETTLEMENT', 'by-owner', 'by-due'))),
  admin('mark-settlement-paid', allAccess(changed('SETTLEMENT'), { UpdateItem: ['LEDGER'] }, FUNDING)),
  admin('mark-settlement-failed', changed('SETTLEMENT')),
  admin('recredit-settlement', allAccess(changed('SETTLEMENT'), { UpdateItem: ['LEDGER'] })),
  admin('get-settlement-statement', allAccess({ GetItem: ['SETTLEMENT'] }, FUNDING)),
  admin('audit-ledger', AUDITING, { timeoutSeconds: 300 }),
  admin('list-suspense', listed('SUSPENSE', 'by-owner', 'by-status')),
  admin('resolve-suspense', changed('SUSPENSE')),
]
