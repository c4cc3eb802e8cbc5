import type { FunctionSpec, SecretAccess } from '../../../functions/function-spec.ts'
import type { Deps } from '../../../shared/deps.ts'
import { callbackSecretName, providerSecretName, type Secrets } from '../../../shared/secrets.ts'
import { grantedTable } from './granted-table.ts'

/** The function's manifest entry does not state this access. On AWS, IAM refuses it. */
export class AccessDenied extends Error {
  override readonly name = 'AccessDeniedException'
}

type Granted = Pick<Deps, 'table' | 'queues' | 'alerts' | 'secrets' | 'sealer'>

/**
 * Limits the dependencies to the access in the function's manifest entry. The stack grants the same access on AWS, so a
 * missing entry is found before a deployment.
 */
export const grantedDeps = (stage: string, spec: FunctionSpec, all: Granted): Granted => {
  const refuse = (access: string): never => {
    throw new AccessDenied(`${spec.name} is not granted ${access} in the manifest`)
  }
  const demand = (granted: boolean, access: string) => {
    if (!granted) refuse(access)
  }
  return {
    table: grantedTable(all.table, spec.table, refuse),
    queues: {
      send: async (queue, ...messages) => {
        demand(spec.sends.includes(queue), `sending to ${queue}`)
        await all.queues.send(queue, ...messages)
      },
    },
    alerts: {
      publish: async (alert) => {
        demand(spec.alerts, 'publishing alerts')
        await all.alerts.publish(alert)
      },
    },
    secrets: grantedSecrets(stage, all.secrets, (access) =>
      demand(access !== 'another secret' && spec.secrets.includes(access), access),
    ),
    sealer: {
      seal: async (...given) => {
        demand(spec.endpointSecrets === 'seal', 'sealing secrets of endpoints')
        return all.sealer.seal(...given)
      },
      unseal: async (...given) => {
        demand(spec.endpointSecrets === 'unseal', 'unsealing secrets of endpoints')
        return all.sealer.unseal(...given)
      },
    },
  }
}

/** IAM identifies secrets by name. A secret that is not the provider's needs an access that no function has. */
const grantedSecrets = (
  stage: string,
  secrets: Secrets,
  demand: (access: SecretAccess | 'another secret') => void,
): Secrets => {
  const ofProvider = new Map<string, SecretAccess>([
    [providerSecretName(stage), 'read-provider'],
    [callbackSecretName(stage), 'read-callback-tokens'],
  ])
  return {
    get: async (name, fresh) => {
      demand(ofProvider.get(name) ?? 'another secret')
      return secrets.get(name, fresh)
    },
  }
}
