import { deployedStage } from '../../infra/stack/stage.ts'
import { synthesised, synthesisedFront } from '../support/stack-template.ts'

/** The stacks of a stage by their regions. `copies`: whether it has the stack of the vault. */
export type BilledStage = ReturnType<typeof billedStage>

export function billedStages() {
  return { prod: billedStage('prod'), dev: billedStage('dev') }
}

function billedStage(name: 'prod' | 'dev') {
  const stage = deployedStage(name)
  return {
    gateway: synthesised(name),
    ...(stage.front === 'cloudfront' && { front: synthesisedFront(stage) }),
    copies: stage.copies !== undefined,
  }
}
