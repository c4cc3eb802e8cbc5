import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { FunctionSpec, SecretAccess } from '../../functions/manifest.ts'
import type { Deps } from '../../shared/deps.ts'
import { providerSecretName, type Secrets } from '../../shared/secrets.ts'

/** What IAM answers on AWS: the function's manifest entry does not state this access. */
export class AccessDenied extends Error {
  override readonly name = 'AccessDeniedException'
}

type Granted = Pick<Deps, 'table' | 'queues' | 'alerts' | 'secrets'>

/**
 * The dependencies with only the access that the function's manifest entry states. On AWS the stack grants no more, so a
 * missing entry is found here, before a deployment.
 */
export const grantedDeps = (stage: string, spec: FunctionSpec, all: Granted): Granted => {
  const demand = (granted: boolean, access: string) => {
    if (!granted) throw new AccessDenied(`${spec.name} is not granted ${access} in functions/manifest.ts`)
  }
  return {
    table: { name: all.table.name, client: grantedClient(all.table.client, spec, demand) },
    queues: {
      send: async (queue, message) => {
        demand(spec.sends.includes(queue), `sending to ${queue}`)
        await all.queues.send(queue, message)
      },
    },
    alerts: {
      publish: async (alert) => {
        demand(spec.alerts, 'publishing alerts')
        await all.alerts.publish(alert)
      },
    },
    secrets: grantedSecrets(stage, all.secrets, (access) => demand(spec.secrets.includes(access), access)),
  }
}

type Demand = (granted: boolean, access: string) => void

const grantedClient = (client: DynamoDBDocumentClient, spec: FunctionSpec, demand: Demand): DynamoDBDocumentClient => {
  const granted: ReadonlySet<string> = new Set(spec.table)
  return new Proxy(client, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      if (property !== 'send') return value.bind(target)
      return async (command: object, ...rest: unknown[]) => {
        for (const action of actionsOf(command)) demand(granted.has(action), `dynamodb:${action}`)
        return value.call(target, command, ...rest)
      }
    },
  })
}

/** The IAM actions a command needs; a transaction needs those of its parts. */
const actionsOf = (command: object): readonly string[] => {
  if (command instanceof GetCommand || command instanceof TransactGetCommand) return ['GetItem']
  if (command instanceof BatchGetCommand) return ['BatchGetItem']
  if (command instanceof QueryCommand) return ['Query']
  if (command instanceof PutCommand) return ['PutItem']
  if (command instanceof UpdateCommand) return ['UpdateItem']
  if (command instanceof DeleteCommand) return ['DeleteItem']
  if (command instanceof TransactWriteCommand) return (command.input.TransactItems ?? []).flatMap(partActions)
  return [command.constructor.name]
}

const partActions = (part: NonNullable<TransactWriteCommand['input']['TransactItems']>[number]): string[] => [
  ...(part.Put ? ['PutItem'] : []),
  ...(part.Update ? ['UpdateItem'] : []),
  ...(part.Delete ? ['DeleteItem'] : []),
  ...(part.ConditionCheck ? ['ConditionCheckItem'] : []),
]

const grantedSecrets = (stage: string, secrets: Secrets, demand: (access: SecretAccess) => void): Secrets => ({
  get: async (name) => {
    demand(name === providerSecretName(stage) ? 'read-provider' : 'read-endpoints')
    return secrets.get(name)
  },
  create: async (name, value) => {
    demand('manage-endpoints')
    await secrets.create(name, value)
  },
  remove: async (name) => {
    demand('manage-endpoints')
    await secrets.remove(name)
  },
})
