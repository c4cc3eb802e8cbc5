import { GetHostedZoneCommand, type Route53Client } from '@aws-sdk/client-route-53'
import type { StageDomain } from '../../stack/stage.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { unlessAbsent } from '../check/look.ts'

/** Whether the stage's domain can be made in its zone. */
export const checkDomain = async (client: Route53Client, domain: StageDomain | undefined): Promise<Finding> => {
  if (domain === undefined) return ok('domain', 'none: the address API Gateway makes up')
  const { name, zone } = domain
  const what = `domain ${name}`
  if (name !== zone.name && !name.endsWith(`.${zone.name}`)) {
    return wrong(what, `is not in zone ${zone.name}`, 'correct domain in infra/stack/stage.ts')
  }
  const found = await unlessAbsent(
    ['NoSuchHostedZone', 'InvalidInput'],
    client.send(new GetHostedZoneCommand({ Id: zone.id })),
  )
  if (!found) {
    return wrong(
      what,
      `there is no hosted zone ${zone.id} in this account`,
      'create it, or correct infra/stack/stage.ts',
    )
  }
  const foundName = found.HostedZone?.Name?.replace(/\.$/, '') ?? ''
  if (foundName !== zone.name) {
    return wrong(
      what,
      `zone ${zone.id} is ${foundName}, not ${zone.name}`,
      'correct domain.zone in infra/stack/stage.ts',
    )
  }
  if (found.HostedZone?.Config?.PrivateZone === true) {
    return wrong(what, `zone ${zone.id} is private`, 'use a public zone: merchants and provider must find the API')
  }
  return ok(what, `zone ${zone.name} is there`)
}
