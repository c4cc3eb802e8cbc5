import { awsClients } from '../../infra/operate/check/aws-clients.ts'
import type { Finding } from '../../infra/operate/check/finding.ts'
import { examineStage } from '../../infra/operate/doctor/examine-stage.ts'
import { stageTemplate } from '../../infra/stack/stage-template.ts'
import { deployedAws } from './deployed-stage.ts'
import { callbackApi, providerApi } from './examined-borders.ts'
import { READY_PRODUCTION } from './stage-options.ts'

export const stage = READY_PRODUCTION
export const template = stageTemplate(stage)
const production = { stage, template }

export type ExaminedStage = Awaited<ReturnType<typeof examinedStage>>

/** A stage as synthesised, with its API and its provider, and the doctor who looks at it. */
export const examinedStage = async (
  examined: Omit<Parameters<typeof examineStage>[0], 'aws' | 'nowMs'> = production,
) => {
  const [api, provider] = await Promise.all([callbackApi(), providerApi()])
  const aws = deployedAws(examined.template, { ApiUrl: api.url })
  const examine = () =>
    examineStage({ providerUrl: provider.url, ...examined, aws: awsClients('ap-southeast-3'), nowMs: Date.now })
  const notOk = async (): Promise<readonly Finding[]> => (await examine()).filter(({ state }) => state !== 'ok')
  return { api, provider, aws, examine, notOk }
}
