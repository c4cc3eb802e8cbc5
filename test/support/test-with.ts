import { test } from 'vitest'

type Use = (part: unknown) => Promise<void>

/** A test takes the parts that it needs by name. */
export function testWith<World extends object, Name extends keyof World & string>(
  make: () => World | Promise<World>,
  ...names: readonly Name[]
) {
  const parts = names.map((name) => [
    name,
    ({ world }: { world: World }, use: Use) => use(world[name]),
  ])
  return test.extend('world', make).extend<{ $test: Pick<World, Name> }>(Object.fromEntries(parts))
}
