import type { FunctionSpec, SecretAccess } from '../../../functions/function-spec.ts'
import type { Deps } from '../../../shared/deps.ts'
import { callbackSecretName, providerSecretName, type Secrets } from '../../../shared/secrets.ts'
import { grantedTable } from './granted-table.ts'

/** What IAM answers on AWS: the function's manifest entry does not state this access. */
export class AccessDenied extends Error {
  override readonly name = 'AccessDeniedException'
}

type Granted = Pick<Deps, 'table' | 'queues' | 'alerts' | 'secrets' | 'sealer'>

/**
 * The dependencies with only the access that the function's manifest entry states. On AWS the stack grants no more, so a
 * missing entry is found here, before a deployment.
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

/** By name, as IAM tells secrets apart: one of no kind that is granted to anybody needs an access nobody has. */
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
