import { build } from 'esbuild'
import type { FunctionSpec, SecretAccess } from '../../../functions/function-spec.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { reachableTableAccess } from './reachable-table-access.ts'

/** What a function's code can touch, in the words of its manifest entry. */
type ReachableAccess = Pick<FunctionSpec, 'table' | 'sends' | 'alerts' | 'secrets'> & {
  readonly payerDefaults: boolean
}

const SECRETS: Readonly<Record<SecretAccess, RegExp>> = {
  // The adapter that reads the provider's secret is bound at run time; calling the port is what needs it.
  'read-provider': /\bprovider\.\w+\(|\bsecrets\.get\(providerSecretName\(/,
  'read-callback-tokens': /\bsecrets\.get\(callbackSecretName\(/,
  'write-callback-tokens': /\bsecrets\.replace\(callbackSecretName\(/,
  'read-endpoints': /\bsecrets\.get\([^)]*\bsecretName\)/,
  'create-endpoints': /\bsecrets\.create\(/,
  'delete-endpoints': /\bsecrets\.remove\(/,
}

const QUEUE_SEND = /\bqueues\.send\(\s*"(\w+)"/g
const QUEUES = ['webhooks', 'settlements'] as const

const namesIn = <Name extends string>(code: string, patterns: Readonly<Record<Name, RegExp>>): Name[] =>
  keysOf(patterns).filter((name) => patterns[name].test(code))

const keysOf = <Name extends string>(record: Readonly<Record<Name, unknown>>): Name[] => {
  const isName = (key: string): key is Name => key in record
  return Object.keys(record).filter(isName)
}

const accessIn = (code: string): ReachableAccess => {
  const sent = [...code.matchAll(QUEUE_SEND)].map(([, name]) => name)
  const calls = code.match(/\bqueues\.send\(/g) ?? []
  if (calls.length !== sent.length) throw new Error('a queue is not named by a literal, so its senders cannot be told')
  return {
    table: reachableTableAccess(code),
    sends: QUEUES.filter((name) => sent.includes(name)),
    alerts: /\balerts\.publish\(/.test(code),
    secrets: namesIn(code, SECRETS),
    payerDefaults: /\bstage\.default(ReturnUrl|DisplayName)\b/.test(code),
  }
}

/**
 * Bundles each function as deployment does, but with packages and the wiring of real dependencies left out: what then
 * remains after dead code is removed is the code the function can run, and what that code touches is what it needs.
 * DynamoDB Local checks no permissions, so nothing else would notice a missing one before production.
 */
export const reachableAccess = async (
  specs: readonly FunctionSpec[],
): Promise<ReadonlyMap<string, ReachableAccess>> => {
  const { outputFiles } = await build({
    absWorkingDir: PROJECT_ROOT,
    entryPoints: specs.map(({ entry }) => entry),
    outdir: 'bundles',
    outbase: '.',
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    packages: 'external',
    external: ['*/runtime-deps.ts'],
    logLevel: 'silent',
  })
  return new Map(
    specs.map(({ name, entry }) => {
      const bundle = outputFiles.find(({ path }) => path.endsWith(`/bundles/${entry.replace(/\.ts$/, '.js')}`))
      if (!bundle) throw new Error(`${entry} was not bundled`)
      return [name, accessIn(bundle.text)]
    }),
  )
}
