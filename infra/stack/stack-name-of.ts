import type { DeployedStage } from './stage.ts'

/** The name of a stage's first stack, and the prefix of all names in it. */
export const stackNameOf = ({ settings }: Pick<DeployedStage, 'settings'>): string => `gateway-${settings.name}`

/** The table's name in a generation: the first has the stage's name, a restored one also its number. */
export const tableNameOf = (
  stage: Pick<DeployedStage, 'settings' | 'table'>,
  generation: number = stage.table.generation,
): string => (generation === 1 ? stackNameOf(stage) : `${stackNameOf(stage)}-${generation}`)

/** The second stack: alarms and dashboard. */
export const watchStackNameOf = (stage: Pick<DeployedStage, 'settings'>): string => `${stackNameOf(stage)}-watch`

/** The third stack, of a stage with a front. */
export const frontStackNameOf = (stage: Pick<DeployedStage, 'settings'>): string => `${stackNameOf(stage)}-front`

/** The function that proves a release. It is the one function of a stage that is not in the manifest. */
export const PROVER = 'prove-release'

export const proverNameOf = (stage: Pick<DeployedStage, 'settings'>): string => `${stackNameOf(stage)}-${PROVER}`
