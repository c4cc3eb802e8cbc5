import { GetHostedZoneCommand, type Route53Client } from '@aws-sdk/client-route-53'
import type { StageDomain } from '../../stack/stage-file.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { unlessAbsent } from '../check/run-check.ts'

/** Whether the domain's zone is there for all to see: for a certificate in any other a deployment would wait for hours. */
export const checkDomain = async (client: Route53Client, domain: StageDomain | undefined): Promise<Finding> => {
  if (domain === undefined) return ok('domain', 'none: the address API Gateway makes up')
  const { name, zone } = domain
  const ask = client.send(new GetHostedZoneCommand({ Id: zone.id }))
  const { HostedZone: found } = (await unlessAbsent(['NoSuchHostedZone', 'InvalidInput'], ask)) ?? {}
  if (found?.Name === `${zone.name}.` && found.Config?.PrivateZone !== true) {
    return ok(`domain ${name}`, `zone ${zone.name} is there`)
  }
  const is = found?.Config?.PrivateZone ? 'private' : (found?.Name ?? 'not there')
  const detail = `zone ${zone.id} of this account is ${is}`
  return wrong(
    `domain ${name}`,
    detail,
    `make it the public zone ${zone.name}, or correct domain in infra/stages/STAGE.json`,
  )
}
