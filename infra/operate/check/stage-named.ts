import { UsageError } from '../../local/terminal/command-line.ts'
import { assertDeployable } from '../../stack/assert-deployable.ts'
import { type DeployedStage, deployedStage } from '../../stack/stage.ts'

/** Throws `UsageError` without a name, or if the stage cannot be deployed. */
export function stageNamed(name: string | undefined): DeployedStage {
  if (name === undefined) throw new UsageError('name the stage with --stage NAME')
  try {
    const stage = deployedStage(name)
    assertDeployable(stage)
    return stage
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the stage cannot be deployed')
  }
}
