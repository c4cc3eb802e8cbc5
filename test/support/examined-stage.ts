import { awsClients } from '../../infra/check/aws-clients.ts'
import type { Finding } from '../../infra/check/finding.ts'
import { examineStage } from '../../infra/doctor/examine-stage.ts'
import { deployedStage } from '../../infra/stage.ts'
import { stageTemplate } from '../../infra/stage-template.ts'
import { deployedAws } from './deployed-stage.ts'
import { callbackApi, providerApi } from './examined-borders.ts'

export const stage = deployedStage('prod')
export const template = stageTemplate(stage)

export type ExaminedStage = Awaited<ReturnType<typeof examinedStage>>

/** Production as synthesised, with its API and its provider, and the doctor who looks at it. */
export const examinedStage = async () => {
  const [api, provider] = await Promise.all([callbackApi(), providerApi()])
  const aws = deployedAws(template, { ApiUrl: api.url })
  const examine = () =>
    examineStage({ stage, template, aws: awsClients('ap-southeast-3'), nowMs: Date.now, providerUrl: provider.url })
  const notOk = async (): Promise<readonly Finding[]> => (await examine()).filter(({ state }) => state !== 'ok')
  return { api, provider, aws, examine, notOk }
}
