import { deployedStage } from '../../infra/stack/stage.ts'
import { type StackTemplate, synthesised, synthesisedFront } from '../support/stack-template.ts'

type Stacks = Pick<StackTemplate, 'ofType'>

/** The stacks of a stage by their regions. `copies`: whether it has the stack of the vault. */
export type BilledStage = {
  readonly gateway: Stacks
  readonly front?: Stacks
  readonly copies: boolean
}

export function billedStages(): Readonly<Record<'prod' | 'dev', BilledStage>> {
  return { prod: billedStage('prod'), dev: billedStage('dev') }
}

function billedStage(name: 'prod' | 'dev'): BilledStage {
  const stage = deployedStage(name)
  return {
    gateway: synthesised(name),
    ...(stage.front === 'cloudfront' && { front: synthesisedFront(stage) }),
    copies: stage.copies !== undefined,
  }
}
