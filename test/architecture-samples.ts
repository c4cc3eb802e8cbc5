import { UPSTREAM } from '../shared/table/upstream.ts'
import type { RuleName, TreeRuleName } from './architecture-rules.ts'

/**
 * Each rule must refuse the first sample of a pair and accept the second. So each rule can fail.
 */
export const SAMPLES: Readonly<
  Record<RuleName, readonly (readonly [path: string, refused: string, accepted: string])[]>
> = {
  'imports point only from test to infra to functions to shared': [
    [
      'functions/api/get-payment.ts',
      from('../../infra/app.ts'),
      from('../../shared/runtime/api-handler.ts'),
    ],
    ['shared/money.ts', inline('../functions/manifest.ts'), reExport('./time.ts')],
    [
      'docs/examples/receive-webhooks.ts',
      from('../../shared/time.ts'),
      from('./webhook-servers.ts'),
    ],
  ],
  'a folder of shared imports only from itself and earlier folders': [
    ['shared/payment/payment.ts', types('../runtime/config.ts'), types('../deps.ts')],
    [
      'shared/webhook/delivery/delivery.ts',
      inline('../send/send.ts'),
      reExport('../endpoint/endpoint.ts'),
    ],
    ['shared/send-webhook.ts', types('./webhook/delivery/delivery.ts'), types('./time.ts')],
    ['shared/audit/scan-books.ts', from('../unlisted/one.ts'), from('./audit-parts.ts')],
  ],
  'a folder of the simulation imports only from itself and earlier folders': [
    [
      'test/simulation/world/world.ts',
      types('../histories/history.ts'),
      from('../../../infra/local/demo-walk.ts'),
    ],
    ['test/simulation/world/world.ts', from('../main.ts'), from('../../support/recount/books.ts')],
    ['test/simulation/elsewhere/one.ts', '', ''],
  ],
  'vendor packages stay in the runtime': [
    ['shared/payment/payment-store.ts', from('@aws-sdk/client-dynamodb'), from('../table/step.ts')],
    [
      'shared/runtime/aws/retrying-table.ts',
      from('@aws-sdk/client-dynamodb'),
      from('../table/table.ts'),
    ],
    [
      'functions/api/get-balance.ts',
      `import middy from '@middy/core'`,
      from('../../shared/ledger/ledger-store.ts'),
    ],
  ],
  'only infra/stack imports CDK': [
    ['infra/local/main.ts', from('aws-cdk-lib'), from('node:path')],
    [
      'infra/stack/monitoring/alarms/pages.ts',
      from('aws-cdk-lib/aws-cloudwatch'),
      types('./alarm-spec.ts'),
    ],
  ],
  'in infra, operate imports local and stack, and local imports stack; nothing else': [
    ['infra/app.ts', from('./local/seed.ts'), from('./stack/stage.ts')],
    [
      'infra/stack/functions/grants.ts',
      from('../../operate/check/region.ts'),
      types('../stage.ts'),
    ],
    [
      'infra/local/main.ts',
      from('../operate/check/region.ts'),
      from('../stack/settings/queue-settings.ts'),
    ],
  ],
  'only stores build steps and conditions': [
    ['shared/payment/cancel/cancel.ts', from('../../table/step.ts'), types('../../table/step.ts')],
  ],
  'only the chosen provider and its callbacks import an adapter': [
    [
      'shared/sync/read-slice.ts',
      types('../provider/xendit/xendit-schema.ts'),
      types('../provider/provider.ts'),
    ],
    ['shared/provider/quota-store.ts', from('./xendit/xendit-provider.ts'), from('./provider.ts')],
    [
      'infra/local/main.ts',
      from('../../shared/provider/xendit/xendit-channels.ts'),
      from('../../shared/money.ts'),
    ],
  ],
  'time, random values and environment variables come from deps': [
    ['shared/ids.ts', 'export const now = Date.now', '// Date.now()'],
    ['shared/time.ts', 'new Date()', 'new Date(0)'],
    ['shared/page.ts', 'new Date(0)', `'new Date()'`],
    ['shared/page.ts', 'Math.random()', 'Math.floor(1)'],
    ['functions/api/a.ts', 'process.env', 'process.pid'],
    [
      'shared/ids.ts',
      `import { randomUUID as id } from 'node:crypto'`,
      `import { createHash } from 'node:crypto'`,
    ],
  ],
  'only table/keys.ts contains key texts': [
    ['shared/payment/outbox-store.ts', 'const pk = `PAYMENT#${1}`', `const pk = 'PAYMENT'`],
    ['infra/local/seed-demo-client.ts', `const sk = 'EVENT#'`, '// EVENT#'],
  ],
  'the domain contains no terms of one provider': [
    ['shared/channel/channels.ts', 'const code = `${bank}_VIRTUAL_ACCOUNT`', `const code = 'BCA'`],
    ['shared/sync/provider-row.ts', 'const own = /^py-/', `const fee = 'xendit_fee_minor'`],
    ['shared/books/get-books.ts', `const account = 'CASH'`, `// CASH`],
    ['shared/sync/head-store.ts', `const provider = '${UPSTREAM}'`, 'const provider = UPSTREAM'],
  ],
  'file names are kebab-case and specific': [
    ['shared/payment/payment-utils.ts', '', ''],
    ['shared/index.ts', '', ''],
    ['shared/PaymentStore.ts', '', ''],
  ],
  'a file has the name of its export': [
    ['shared/money.ts', 'export type Sum = number; export const sum = 1', 'export const money = 1'],
    ['shared/table/list.ts', 'export const listItems = () => 1', 'export const listOf = 1'],
    [
      'infra/local/channels.ts',
      'export const bankOf = 1',
      'export type Channel = 1; export const channelOf = 1',
    ],
    ['functions/api/get-one.ts', 'export const one = 1', 'export const handler = 1'],
  ],
  'no constant at the top level holds a function': [
    ['shared/a.ts', 'export const a = (() => 1) as Answer', 'export function a() {}'],
    ['test/a.test.ts', 'const a = async function* () {}', 'const a = [() => 1].map(run)'],
  ],
  'the main export stands first, and helpers below their first user': [
    [
      'shared/a.ts',
      'function b() {}; export function a() { b() }',
      'export function a() { b() }; function b() {}',
    ],
    [
      'shared/a.ts',
      'export function b() {}; export function a() {}',
      'export function a() {}; export function b() {}',
    ],
    [
      'infra/local/main.ts',
      'function b() {}; function a() { b() }',
      'function a() { b() }; function b() {}',
    ],
    [
      'test/support/a.ts',
      'function b() {}; export function a() { b() }',
      'const b = 1; export function a() {}',
    ],
  ],
  'a line has at most 100 columns, except for a text that cannot be broken': [
    ['shared/a.ts', `// ${'a '.repeat(49)}`, `// ${'a '.repeat(48)}`],
    ['shared/a.ts', `say('${'a '.repeat(48)}')`, `say(\`${'a '.repeat(48)}\`)`],
    ['test/a.test.ts', `is('${'a '.repeat(48)}')`, `it.each([1])('${'a '.repeat(48)}')`],
  ],
  'a function has at most 60 lines': [
    ['shared/a.ts', `() => {${'\n'.repeat(60)}}`, `() => {${'\n'.repeat(59)}}`],
  ],
  'a test has no time limit of its own': [
    [
      'test/unit/a.test.ts',
      `it.each([1])('is', async () => {}, 5_000)`,
      `it.each([1])('is', async () => {})`,
    ],
    ['test/unit/a.test.ts', 'beforeAll(() => 1, 5_000)', 'beforeAll(() => 1)'],
    [
      'test/unit/a.test.ts',
      `it('is', { timeout: 5_000 }, () => 1)`,
      `it('is', { timeout }, () => 1)`,
    ],
    [
      'test/unit/a.test.ts',
      'vi.setConfig({ testTimeout: 5_000 })',
      'vi.setConfig({ testTimeout })',
    ],
  ],
  'no TODO comment, and no disabled check': [['shared/a.ts', '// TODO later', `'TODO'`]],
}

export const TREE_SAMPLES: Readonly<
  Record<TreeRuleName, readonly (readonly [refused: string[], accepted: string[]])[]>
> = {
  'infra has app.ts, stage files, and the folders stack, local and operate': [
    [['infra/stage.ts'], ['infra/app.ts', 'infra/stack/stage.ts']],
    [['infra/stages/dev.ts'], ['infra/stages/dev.json']],
    [['infra/authority.pem'], ['infra/stack/edge/authority.pem']],
    [['infra/tools/main.ts'], ['infra/operate/deploy/main.ts', 'functions/a.ts']],
  ],
  'the three folders of infra share no file name, except main.ts': [
    [
      ['infra/stack/triggers/sources.ts', 'infra/local/triggers/sources.ts'],
      [
        'infra/local/a/sources.ts',
        'infra/local/b/sources.ts',
        'infra/local/main.ts',
        'infra/operate/deploy/main.ts',
      ],
    ],
  ],
  'no file has the name of a folder beside it': [
    [['infra/stack/alarms.ts', 'infra/stack/alarms/pages.ts'], ['infra/stack/alarms/alarms.ts']],
    [['shared/payment.ts', 'shared/payment/fee/tariff.ts'], ['shared/payment/payment.ts']],
  ],
  'no folder has more than 22 files, except functions/admin and test/support': [
    [filesOf('shared', 23), [...filesOf('infra/local', 22), ...filesOf('functions/admin', 23)]],
    [
      filesOf('test/support', 46),
      [...filesOf('test/support', 45), ...filesOf('test/e2e', 22), 'test/e2e/pay.test.ts'],
    ],
  ],
}

function from(path: string) {
  return `import { a } from '${path}'`
}

function inline(path: string) {
  return `export type A = import('${path}').A`
}

function reExport(path: string) {
  return `export * from '${path}'`
}

function types(path: string) {
  return `import type { A } from '${path}'`
}

function filesOf(folder: string, count: number) {
  return Array.from({ length: count }, (_, n) => `${folder}/file-${n}.ts`)
}
