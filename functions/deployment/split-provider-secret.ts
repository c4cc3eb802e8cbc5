import { splitProviderSecret } from '../../shared/provider/split-provider-secret.ts'
import { deploymentHandler } from '../../shared/runtime/deployment-handler.ts'

/** Before any function changes: callback tokens of an older release are copied to the secret of their own. */
export const handler = deploymentHandler((deps) => splitProviderSecret(deps))
