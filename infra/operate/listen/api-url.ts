import { GatewayRefusal } from '../../local/terminal/call-gateway.ts'
import { doorAt } from '../../local/terminal/port.ts'
import { stackNameOf } from '../../stack/stack-name-of.ts'
import { LOCAL_STAGE } from '../admin/action-command.ts'
import { awsClients } from '../check/aws-clients.ts'
import { describedStack, outputOf } from '../check/described-stack.ts'
import { errorName, remedyFor } from '../check/finding.ts'
import { regionNamed, stageNamed } from '../check/stage-named.ts'

/**
 * Where merchants reach the API of a stage. Its file names the domain. Only the stack knows the address of a stage without
 * one: reading it needs AWS credentials.
 */
export const apiUrl = async (
  name: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> => {
  if (name === LOCAL_STAGE) return doorAt(env['PORT'])
  const stage = stageNamed(name)
  if (stage.domain) return `https://${stage.domain.name}`
  const { cloudFormation } = awsClients(await regionNamed(env))
  const stack = await describedStack(cloudFormation, stackNameOf(stage)).catch((error: unknown) => {
    throw new GatewayRefusal(`the address of ${name} is not known: ${errorName(error)}; ${remedyFor(error)}`)
  })
  const url = stack && outputOf(stack, 'ApiUrl')
  if (url === undefined) throw new GatewayRefusal(`${name} is not deployed here; set AWS_REGION and AWS_PROFILE`)
  return url
}
