import type { DeployedStage, StageDomain } from '../stage.ts'

/** What API Gateway itself answers to: behind a front it is the front's origin, and the stage's name is the front's. */
export const apiDomainName = ({ name }: StageDomain, front: DeployedStage['front']): string =>
  front === 'cloudfront' ? `origin.${name}` : name
