import type { RawItem } from './books.ts'

/** The register of clients names each client once, and that of suspense each item. */
export function registerProblems(items: readonly RawItem[]): readonly string[] {
  const idsOf = (of: RegExp) =>
    new Set(items.flatMap(({ pk, sk }) => of.exec(`${String(pk)} ${String(sk)}`)?.[1] ?? []))
  return [
    ...unequal('client', idsOf(/^CLIENT#(.*) CLIENT$/), idsOf(/^AUDIT#clients .*#(.*)$/)),
    ...unequal('suspense', idsOf(/^SUSPENSE#(.*) SUSPENSE$/), idsOf(/^NOTED#\S+ (.*)$/)),
  ]
}

function unequal(kind: string, stored: ReadonlySet<string>, registered: ReadonlySet<string>) {
  return [
    ...[...stored.difference(registered)].map((id) => `no register names ${kind} ${id}`),
    ...[...registered.difference(stored)].map((id) => `${kind} ${id} is only in its register`),
  ]
}
