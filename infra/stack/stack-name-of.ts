import type { DeployedStage } from './stage.ts'

/** The name of a stage's API and workers, and the prefix of all names in the stage. */
export const stackNameOf = ({ settings }: Pick<DeployedStage, 'settings'>): string => `gateway-${settings.name}`

/** The table's name in a generation: the first has the stage's name, a restored one also its number. */
export const tableNameOf = (
  stage: Pick<DeployedStage, 'settings' | 'table'>,
  generation: number = stage.table.generation,
): string => (generation === 1 ? stackNameOf(stage) : `${stackNameOf(stage)}-${generation}`)

/** What the stage keeps: table, key, secrets, queues, topics. */
export const dataStackNameOf = (stage: Pick<DeployedStage, 'settings'>): string => `${stackNameOf(stage)}-data`

/** The functions of operators and their policies. */
export const operatorsStackNameOf = (stage: Pick<DeployedStage, 'settings'>): string =>
  `${stackNameOf(stage)}-operators`

/** Alarms and dashboard. */
export const watchStackNameOf = (stage: Pick<DeployedStage, 'settings'>): string => `${stackNameOf(stage)}-watch`

/** CloudFront and its firewall, of a stage with a front. */
export const frontStackNameOf = (stage: Pick<DeployedStage, 'settings'>): string => `${stackNameOf(stage)}-front`

/** The function that proves a release. It is the one function of a stage that is not in the manifest. */
export const PROVER = 'prove-release'

export const proverNameOf = (stage: Pick<DeployedStage, 'settings'>): string => `${stackNameOf(stage)}-${PROVER}`
