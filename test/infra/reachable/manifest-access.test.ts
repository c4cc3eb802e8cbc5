/**
 * Goal: the manifest grants what a function needs, and nothing else. DynamoDB Local checks no permissions, so nothing
 * else would notice a missing one before production. Method: each function is bundled as deployment does, but with
 * packages and the wiring of real dependencies left out: what then remains after dead code is removed is the code the
 * function can run, and what that code touches is what it needs.
 */
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import type { FunctionSpec, SecretAccess } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { allAccess, TABLE_ACTIONS } from '../../../shared/table/access.ts'
import { PARTITIONS } from '../../../shared/table/keys.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { reachableTableAccess } from './reachable-table-access.ts'

const SECRETS: readonly (readonly [SecretAccess, RegExp])[] = [
  // The adapter that reads the provider's secret is bound at run time; calling the port is what needs it.
  ['read-provider', /\bprovider\.\w+\(|\bsecrets\.get\(providerSecretName\(/],
  ['read-callback-tokens', /\bsecrets\.get\(callbackSecretName\(/],
]

/** Both at once is not an answer, so a function that could do both fails. */
const endpointSecretsIn = (code: string) => {
  const found = (['seal', 'unseal'] as const).filter((name) => new RegExp(`\\bsealer\\.${name}\\(`).test(code))
  return found.length === 0 ? undefined : found.join(' and ')
}

/** What a function's code can touch, in the words of its manifest entry. */
const accessIn = (code: string) => {
  const sent = [...code.matchAll(/\bqueues\.send\(\s*(?:"([\w-]+)")?/g)].map(([, name = '']) => name)
  if (sent.includes('')) throw new Error('a queue is not named by a literal, so its senders cannot be told')
  return {
    table: reachableTableAccess(code),
    sends: [...new Set(sent)].toSorted(),
    alerts: /\balerts\.publish\(/.test(code),
    secrets: SECRETS.flatMap(([name, pattern]) => (pattern.test(code) ? [name] : [])).toSorted(),
    endpointSecrets: endpointSecretsIn(code),
    payerDefaults: /\bstage\.default(ReturnUrl|DisplayName)\b/.test(code),
  }
}

const { outputFiles } = await build({
  absWorkingDir: PROJECT_ROOT,
  entryPoints: MANIFEST.map(({ entry }) => entry),
  outdir: 'bundles',
  outbase: '.',
  write: false,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  packages: 'external',
  external: ['*/runtime-deps.ts', '*/warm-table.ts', '*/config.ts'],
  logLevel: 'silent',
})

const reachable = new Map(
  MANIFEST.map(({ name, entry }) => {
    const bundle = outputFiles.find(({ path }) => path.endsWith(`/bundles/${entry.replace(/\.ts$/, '.js')}`))
    return [name, accessIn(bundle?.text ?? '')]
  }),
)

const stated = ({ table, sends, alerts, secrets, endpointSecrets, payerDefaults = false }: FunctionSpec) => ({
  table: allAccess(table),
  sends: sends.toSorted(),
  alerts,
  secrets: secrets.toSorted(),
  endpointSecrets,
  payerDefaults,
})

describe('access stated in the manifest', () => {
  it.each(MANIFEST)('of $name is exactly what its code can reach', (spec) => {
    expect(reachable.get(spec.name)).toStrictEqual(stated(spec))
  })

  it('is found at all: every kind of access is reached by some function', () => {
    const all = [...reachable.values()]
    const tables = all.map(({ table }) => table)
    const partitions = tables.flatMap((table) => TABLE_ACTIONS.flatMap((action) => table[action] ?? []))
    const indexes = tables.flatMap((table) => table.indexes ?? [])

    expect(new Set(partitions)).toStrictEqual(new Set(PARTITIONS))
    expect(new Set(indexes)).toStrictEqual(new Set(Object.keys(TABLE_SCHEMA.indexes)))
    expect(TABLE_ACTIONS.filter((action) => !tables.some((table) => table[action]))).toStrictEqual([])
    // Nothing of history is ever deleted: an endpoint moves away.
    expect(new Set(tables.flatMap((table) => table.DeleteItem ?? []))).toStrictEqual(new Set(['ENDPOINTS']))
    expect(all.some(({ alerts }) => alerts)).toBe(true)
    expect(all.filter(({ payerDefaults }) => payerDefaults)).toHaveLength(1)
    expect(all.flatMap(({ endpointSecrets }) => endpointSecrets ?? []).toSorted()).toStrictEqual(['seal', 'unseal'])
    expect(new Set(all.flatMap(({ secrets }) => secrets))).toStrictEqual(new Set(SECRETS.map(([name]) => name)))
  })
})
