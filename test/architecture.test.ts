import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../functions/manifest.ts'
import { MANIFEST_FILES, RULES, type RuleName } from './support/architecture-rules.ts'
import { PROJECT_ROOT, parseSource, sourcesIn } from './support/source-file.ts'

const SOURCES = sourcesIn('shared', 'functions', 'infra', 'test')

const violations = (rule: RuleName) =>
  SOURCES.flatMap((file) => RULES[rule](file).map((violation) => `${file.path}: ${violation}`))

const isRuleName = (name: string): name is RuleName => name in RULES

describe('the source tree', () => {
  it.each(Object.keys(RULES).filter(isRuleName))('keeps the rule: %s', (rule) => {
    expect(violations(rule)).toStrictEqual([])
  })

  it('has only the folders the owner fixed', () => {
    const made = ['node_modules', 'cdk.out', 'coverage']
    const folders = readdirSync(PROJECT_ROOT, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !made.includes(entry.name))
      .map(({ name }) => name)

    expect(['docs', 'functions', 'infra', 'shared', 'test']).toStrictEqual(expect.arrayContaining(folders))
  })

  it('has every entry file of the manifest', () => {
    expect(MANIFEST.map(({ entry }) => entry).filter((entry) => !existsSync(join(PROJECT_ROOT, entry)))).toStrictEqual(
      [],
    )
  })

  it('has every handler in the manifest, once', () => {
    const handlers = SOURCES.map(({ path }) => path).filter(
      (path) => path.startsWith('functions/') && !MANIFEST_FILES.includes(path),
    )

    expect(MANIFEST.map(({ entry }) => entry).toSorted()).toStrictEqual(handlers.toSorted())
  })
})

/** A rule that cannot fail holds nothing: each is shown what it must refuse, and its innocent neighbour. */
const SAMPLES: readonly (readonly [RuleName, path: string, refused: string, accepted: string])[] = [
  [
    'imports point only from test to infra to functions to shared',
    'functions/api/get-payment.ts',
    `import { app } from '../../infra/app.ts'`,
    `import { ok } from '../../shared/runtime/api-handler.ts'`,
  ],
  [
    'imports point only from test to infra to functions to shared',
    'shared/money.ts',
    `export type Spec = import('../functions/manifest.ts').FunctionSpec`,
    `export * from './time.ts'`,
  ],
  [
    'the domain does not import the runtime',
    'shared/payment/payment.ts',
    `import type { Config } from '../runtime/config.ts'`,
    `import type { Deps } from '../deps.ts'`,
  ],
  [
    'vendor packages stay in table and runtime',
    'shared/payment/payment-store.ts',
    `import { PutCommand } from '@aws-sdk/lib-dynamodb'`,
    `import { put } from '../table/step.ts'`,
  ],
  [
    'vendor packages stay in table and runtime',
    'shared/deps.ts',
    `import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'`,
    `import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'`,
  ],
  [
    'vendor packages stay in table and runtime',
    'shared/table/read.ts',
    `import middy from '@middy/core'`,
    `import { GetCommand } from '@aws-sdk/lib-dynamodb'`,
  ],
  [
    'only the stack knows CDK',
    'infra/local/main.ts',
    `import { App } from 'aws-cdk-lib'`,
    `import { join } from 'node:path'`,
  ],
  [
    'the stack does not use the local gateway',
    'infra/app.ts',
    `import { seed } from './local/seed.ts'`,
    `import { deployedStage } from './stack/stage.ts'`,
  ],
  [
    'time, chance and environment come in through deps',
    'shared/ids.ts',
    'export const now = Date.now',
    '// Date.now()',
  ],
  ['time, chance and environment come in through deps', 'shared/time.ts', 'new Date()', 'new Date(0)'],
  ['time, chance and environment come in through deps', 'shared/page.ts', 'new Date(0)', `'new Date()'`],
  ['time, chance and environment come in through deps', 'shared/page.ts', 'Math.random()', 'Math.floor(1)'],
  ['time, chance and environment come in through deps', 'functions/api/a.ts', 'process.env', 'process.pid'],
  [
    'time, chance and environment come in through deps',
    'shared/ids.ts',
    `import { randomUUID as id } from 'node:crypto'`,
    `import { createHash } from 'node:crypto'`,
  ],
  [
    'keys are spelled only in table/keys.ts',
    'shared/event/outbox.ts',
    'const pk = `PAYMENT#${1}`',
    `const pk = 'PAYMENT'`,
  ],
  ['keys are spelled only in table/keys.ts', 'infra/local/seed.ts', `const sk = 'EVENT#'`, '// EVENT#'],
  ['names of files say what is in them', 'shared/payment/payment-utils.ts', '', ''],
  ['names of files say what is in them', 'shared/index.ts', '', ''],
  ['names of files say what is in them', 'shared/PaymentStore.ts', '', ''],
  ['exports have names', 'shared/money.ts', 'export default 1', 'export const one = 1'],
  ['files are short, and handlers shorter', 'functions/api/a.ts', '1\n'.repeat(41), '1\n'.repeat(40)],
  ['files are short, and handlers shorter', 'shared/a.ts', '1\n'.repeat(251), '1\n'.repeat(250)],
  ['functions are short', 'shared/a.ts', `() => {${'\n'.repeat(50)}}`, `() => {${'\n'.repeat(49)}}`],
  ['nothing is left for later, and no check is switched off', 'shared/a.ts', '// TODO later', `'TODO'`],
]

describe('the rules themselves', () => {
  it.each(SAMPLES)('%s: refuses the sample in %s', (rule, path, refused, accepted) => {
    expect(RULES[rule](parseSource(path, refused))).toHaveLength(1)
    if (accepted !== refused) expect(RULES[rule](parseSource(path, accepted))).toStrictEqual([])
  })

  it('every rule has a sample', () => {
    expect([...new Set(SAMPLES.map(([rule]) => rule))].toSorted()).toStrictEqual(Object.keys(RULES).toSorted())
  })
})
