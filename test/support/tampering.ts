import { expect } from 'vitest'
import { auditLedger } from '../../shared/audit/run-audits.ts'
import type { ClientId } from '../../shared/ids.ts'
import { toItem } from '../../shared/table/attributes.ts'
import type { Key } from '../../shared/table/keys.ts'
import { put } from '../../shared/table/step.ts'
import { addMs, type Timestamp } from '../../shared/time.ts'
import { expectBalanced } from './recount/expect-balanced.ts'
import type { TestDeps } from './test-deps.ts'

export type Raw = Record<string, unknown>

export type Tampering = { readonly name: string; readonly item: Raw }

export async function rawItem(deps: TestDeps, key: Key): Promise<Raw> {
  const item = await deps.table.get(key)
  if (item === undefined) throw new Error(`there is no ${key.pk}`)
  return toItem(item)
}

export function putRaw(deps: TestDeps, item: Raw) {
  return deps.table.write(put({ pk: String(item['pk']), sk: String(item['sk']) }, item))
}

const REMOVED = Symbol('removed')

/**
 * Fields that nothing repeats. The audit ignores `loose` ones, and judges `imprecise` times only
 * for plausibility.
 */
export type Unwitnessed = {
  readonly loose: readonly string[]
  readonly imprecise: readonly string[]
}

/**
 * Every single change of an item: each value, also nested ones, and each removed attribute. The
 * keys stay.
 */
export function tamperingsOf(item: Raw, { loose, imprecise }: Unwitnessed): readonly Tampering[] {
  const { pk: _, sk: __, ...attributes } = item
  const isIn = (names: readonly string[], name: string) =>
    names.some((prefix) => name === prefix || name.startsWith(`${prefix}.`))
  const changed = leaves(attributes).flatMap(([path, value]) => {
    const name = path.join('.')
    if (isIn(loose, name)) return []
    return changesOf(value, isIn(imprecise, name)).map((other) => ({
      name: `${name} = ${String(other)}`,
      item: replaced(item, path, other) as Raw,
    }))
  })
  const removed = Object.keys(attributes)
    // For a count, zero and absent are the same.
    .filter(
      (name) => ![loose, imprecise].some((names) => isIn(names, name)) && attributes[name] !== 0,
    )
    .map((name) => ({ name: `${name} removed`, item: replaced(item, [name], REMOVED) as Raw }))
  return [...changed, ...removed]
}

type Path = readonly (string | number)[]

function leaves(node: unknown, path: Path = []): readonly (readonly [Path, unknown])[] {
  if (Array.isArray(node)) return node.flatMap((inner, index) => leaves(inner, [...path, index]))
  if (typeof node === 'object' && node !== null && !(node instanceof Set)) {
    return Object.entries(node).flatMap(([name, inner]) => leaves(inner, [...path, name]))
  }
  return [[path, node]]
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** For texts of a closed set: another text of the set. */
const OTHER: Readonly<Record<string, string>> = {
  pending: 'expired',
  succeeded: 'failed',
  failed: 'succeeded',
  expired: 'failed',
  cancelled: 'expired',
  estimated: 'actual',
  actual: 'assumed',
  assumed: 'actual',
  recorded: 'manual_paid',
  manual_paid: 'failed',
  auto: 'manual',
  manual: 'auto',
  'payment.succeeded': 'payment.failed',
  'payment.failed': 'payment.expired',
  'payment.expired': 'payment.failed',
  virtual_account: 'qris',
  qris: 'virtual_account',
}

const FAR_TIMES = ['2001-02-03T04:05:06.789Z', '2099-02-03T04:05:06.789Z']

/** The smallest change comes first. */
function changesOf(value: unknown, isImpreciseTime: boolean): readonly unknown[] {
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number') return [value + 1, value - 1, -value - 1]
  if (typeof value !== 'string') return []
  if (TIME.test(value))
    return isImpreciseTime ? FAR_TIMES : [addMs(value as Timestamp, 1), ...FAR_TIMES]
  if (value in OTHER) return [OTHER[value]]
  return /^[0-9a-f]{8}-/.test(value)
    ? [`${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`]
    : [`${value}x`]
}

function replaced(node: unknown, [at, ...rest]: Path, value: unknown): unknown {
  if (at === undefined) return value
  if (Array.isArray(node))
    return node.map((inner, index) => (index === at ? replaced(inner, rest, value) : inner))
  const entries = Object.entries(node as Raw).flatMap(([name, inner]) => {
    if (name !== at) return [[name, inner] as const]
    const changed = replaced(inner, rest, value)
    return changed === REMOVED ? [] : [[name, changed] as const]
  })
  return Object.fromEntries(entries)
}

/**
 * Attributes that move an item into another list: then the audit can only name its shard or window.
 */
const HIDES = /^(owner|entity|listed_at|id|client_id|payment_id|open_at)\b/

/**
 * Of these tamperings the ones that an audit of the whole client does not see, or sees without
 * naming one of `ids`.
 */
export async function undetectedBy(
  deps: TestDeps,
  clientId: ClientId,
  {
    tamperings,
    ids,
  }: { readonly tamperings: readonly Tampering[]; readonly ids: readonly string[] },
): Promise<readonly string[]> {
  const missed: string[] = []
  for (const { name, item } of tamperings) {
    const { pk, sk } = item
    const before = await rawItem(deps, { pk: String(pk), sk: String(sk) })
    await putRaw(deps, item)
    try {
      const { balanced, differences } = await auditLedger(
        { ...deps, sleep: async () => {} },
        clientId,
      )
      const isNamed =
        differences.some(({ id }) => ids.includes(id)) ||
        (HIDES.test(name) && differences.length > 0)
      if (balanced !== false || !isNamed)
        missed.push(`${name}: ${String(balanced)} ${JSON.stringify(differences)}`)
    } catch (error) {
      missed.push(`${name}: ${String(error)}`)
    } finally {
      await putRaw(deps, before)
    }
  }
  expect(tamperings.length).toBeGreaterThan(1)
  await expectBalanced(deps, clientId)
  return missed
}
