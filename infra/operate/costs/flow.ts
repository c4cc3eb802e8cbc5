import type { ASSUMPTIONS } from './assumptions.ts'
import type { CostWorld } from './cost-world.ts'

type FunctionName = keyof typeof ASSUMPTIONS.billedMs

/** What one step of a payment's life uses, counted while it runs. */
export type Flow = {
  readonly name: string
  /** Undefined for a step that is no invocation of its own. */
  readonly functionName: FunctionName
  /** Of the function, for one payment; below one where a run serves many. */
  readonly invocations: number
  readonly reads: number
  readonly writes: number
  readonly messages: number
  readonly logBytes: number
  readonly isHttp: boolean
}

const HTTP: readonly string[] = ['api-create-payment', 'api-get-payment', 'receive-provider-callback']

/** Runs one step and counts what it used. */
export const count = async (
  world: CostWorld,
  functionName: FunctionName,
  name: string,
  run: () => Promise<unknown>,
): Promise<Flow> => {
  world.takeUnits()
  world.takeLogBytes()
  const sentBefore = world.sent.length
  await run()
  return {
    name,
    functionName,
    invocations: 1,
    ...world.takeUnits(),
    messages: world.sent.length - sentBefore,
    logBytes: world.takeLogBytes(),
    isHttp: HTTP.includes(functionName),
  }
}
