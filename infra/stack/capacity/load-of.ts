import type { Load } from '../../../functions/function-spec.ts'
import { callsPerMinute } from '../../../shared/provider/provider-quota.ts'
import type { DeployedStage } from '../stage.ts'

/** The load that a stage must carry, by its settings. */
export const loadOf = ({ settings, deliveries }: Pick<DeployedStage, 'settings' | 'deliveries'>): Load => ({
  callsPerMinute: callsPerMinute(settings),
  ...deliveries,
})
