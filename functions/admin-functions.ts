import { allAccess, type TableAccess } from '../shared/table/access.ts'
import {
  type Access,
  ASKS_PROVIDER,
  BOTH_LANES,
  DEFAULTS,
  type Duty,
  type FunctionSpec,
} from './function-spec.ts'
import {
  ACCEPTANCES,
  ADJUSTING,
  ALL_CLIENTS,
  ANNOUNCING,
  APPROVED,
  AUDITING,
  BALANCE,
  BATCHING,
  BULK_REDELIVERING,
  changeOf,
  ERASING,
  JOURNAL_READ,
  listOf,
  NEWS,
  NOT_ENDED,
  OWN_DELIVERIES,
  PAYING_OUT,
  PAYOUT_LISTS,
  RECORDING,
  RECOUNTING,
  REFUNDING,
  RETURNING,
  SETTLING,
  STATEMENT,
  TIMELINE,
} from './table-access.ts'

const [look, support, finance, approve, admin] = [
  actionOf('look'),
  actionOf('support'),
  actionOf('finance'),
  actionOf('approve'),
  actionOf('admin'),
]

export const ADMIN_FUNCTIONS: readonly FunctionSpec[] = [
  admin('create-client', allAccess(RECORDING, { PutItem: ['CLIENT', 'LEDGER', 'VERDICT'] })),
  admin('update-client', allAccess(changeOf('CLIENT'), BALANCE), { alerts: true }),
  look('get-client', { GetItem: ['CLIENT'] }),
  look('list-clients', listOf('CLIENT', 'by-owner')),
  admin('issue-api-key', allAccess(RECORDING, { GetItem: ['CLIENT'], PutItem: ['APIKEY'] }), {
    alerts: true,
  }),
  admin('revoke-api-key', allAccess(changeOf('APIKEY'), { BatchGetItem: ['RATE'] })),
  look(
    'list-api-keys',
    allAccess({ GetItem: ['CLIENT'], BatchGetItem: ['RATE'] }, listOf('APIKEY', 'by-owner')),
  ),
  admin(
    'register-endpoint',
    allAccess(RECORDING, { GetItem: ['CLIENT'], UpdateFields: ['CLIENT'], PutItem: ['ENDPOINTS'] }),
    { alerts: true, endpointSecrets: 'seal' },
  ),
  admin(
    'update-endpoint',
    allAccess(RECORDING, { GetFields: ['ENDPOINTS'], UpdateItem: ['ENDPOINTS'] }),
    { alerts: true },
  ),
  admin(
    'delete-endpoint',
    allAccess(RECORDING, {
      GetFields: ['ENDPOINTS'],
      UpdateFields: ['CLIENT'],
      PutItem: ['ENDPOINTS'],
      DeleteItem: ['ENDPOINTS'],
    }),
  ),
  look('list-endpoints', { GetItem: ['CLIENT'], QueryFields: ['ENDPOINTS'] }),
  support(
    'send-test-event',
    allAccess(RECORDING, { GetFields: ['ENDPOINTS'], PutItem: ['TEST'] }),
    { sends: BOTH_LANES },
  ),
  look('get-payment', TIMELINE),
  look(
    'find-payments',
    {
      GetItem: ['CLIENT', 'PAYMENT'],
      BatchGetItem: ['PAYMENT', 'SUSPENSE'],
      Query: ['DESTINATION', 'REFERENCE'],
      indexes: ['by-owner'],
    },
    { secrets: ['read-provider'] },
  ),
  support('refresh-payment', allAccess(NEWS, TIMELINE, RECORDING, { UpdateItem: ['SYNC'] }), {
    ...ASKS_PROVIDER,
    sends: BOTH_LANES,
  }),
  support('erase-customer', ERASING),
  look('list-deliveries', allAccess({ GetItem: ['CLIENT'] }, OWN_DELIVERIES)),
  support('redeliver', allAccess(BULK_REDELIVERING, RECORDING), {
    sends: BOTH_LANES,
    alerts: true,
  }),
  finance('trigger-settlement', allAccess(SETTLING, BALANCE), {
    ...ASKS_PROVIDER,
    sends: ['settlements', 'audits', ...BOTH_LANES],
    timeoutSeconds: 300,
  }),
  look('list-settlements', PAYOUT_LISTS, { timeoutSeconds: 300 }),
  finance('mark-settlement-paid', PAYING_OUT, {
    timeoutSeconds: 300,
    alerts: true,
    sends: BOTH_LANES,
  }),
  finance('payout-file', BATCHING, { timeoutSeconds: 300, alerts: true }),
  finance('payout-answer', PAYING_OUT, { timeoutSeconds: 300, alerts: true, sends: BOTH_LANES }),
  finance(
    'accept-difference',
    allAccess(RECORDING, APPROVED, ACCEPTANCES, { GetItem: ['CLIENT', 'VERDICT'] }),
  ),
  approve(
    'approve',
    allAccess(RECORDING, ACCEPTANCES, { GetItem: ['VERDICT'], PutItem: ['APPROVAL'] }),
  ),
  finance(
    'mark-settlement-failed',
    allAccess(changeOf('SETTLEMENT'), ANNOUNCING, NOT_ENDED, {
      GetItem: ['BATCH'],
      Query: ['AUDIT'],
    }),
    { sends: BOTH_LANES },
  ),
  finance('recredit-settlement', RETURNING),
  finance('return-payout', RETURNING),
  finance('refund-payment', REFUNDING, { sends: BOTH_LANES, ...ASKS_PROVIDER }),
  finance(
    'adjust-house',
    allAccess(RECORDING, APPROVED, {
      GetItem: ['ADJUSTMENT'],
      PutItem: ['ADJUSTMENT', 'JOURNAL'],
      UpdateItem: ['HOUSE'],
    }),
  ),
  look('get-settlement-statement', allAccess(JOURNAL_READ, { GetItem: ['SETTLEMENT'] })),
  look('get-statement', allAccess({ GetItem: ['CLIENT'] }, STATEMENT)),
  finance('adjust-ledger', ADJUSTING),
  finance('audit-ledger', AUDITING, { timeoutSeconds: 300, alerts: true, sends: ['audits'] }),
  finance('recount-ledger', RECOUNTING, { secrets: ['read-provider'], timeoutSeconds: 900 }),
  look(
    'get-books',
    allAccess(
      ALL_CLIENTS,
      ACCEPTANCES,
      JOURNAL_READ,
      listOf('SETTLEMENT', 'by-owner', 'by-status'),
      { GetItem: ['CLIENT', 'VERDICT'], BatchGetItem: ['SUSPENSE'], Query: ['HOUSE', 'LEDGER'] },
    ),
    { secrets: ['read-provider'], timeoutSeconds: 300, memoryMb: 1_769 },
  ),
  look(
    'list-audit',
    allAccess({ GetItem: ['CLIENT'], Query: ['AUDIT'] }, listOf('AUDIT', 'by-owner')),
  ),
  look(
    'list-suspense',
    allAccess({ GetItem: ['CLIENT', 'PAYMENT'] }, listOf('SUSPENSE', 'by-owner', 'by-status')),
  ),
  finance(
    'resolve-suspense',
    allAccess(changeOf('SUSPENSE'), APPROVED, ANNOUNCING, {
      BatchGetItem: ['JOURNAL'],
      GetItem: ['PAYMENT'],
      PutItem: ['JOURNAL'],
      UpdateItem: ['HOUSE', 'NOTED', 'PAYMENT'],
      ConditionCheckItem: ['JOURNAL', 'PAYMENT', 'SUSPENSE'],
    }),
    { secrets: ['read-provider'], sends: BOTH_LANES },
  ),
]

function actionOf(duty: Duty) {
  return (file: string, table: TableAccess, access: Access = {}): FunctionSpec => ({
    ...DEFAULTS,
    name: file,
    entry: `functions/admin/${file}.ts`,
    trigger: { kind: 'operator', duty },
    table,
    // An operator waits for the answer. Actions that read a client's books set a longer timeout.
    timeoutSeconds: 60,
    ...access,
  })
}
