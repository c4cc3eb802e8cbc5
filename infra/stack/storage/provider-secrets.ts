import type { Key } from 'aws-cdk-lib/aws-kms'
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { type DeployedStage, removalPolicyBesidesTable } from '../stage.ts'

/**
 * What we show the provider and what it shows us, apart: many functions read the one, and a single one the other. The
 * stack makes each with a random text, which is no valid value: until an operator puts the real one, every provider call
 * and callback fails instead of trusting something guessable. Later deployments leave the operator's values alone, and so
 * does the deletion of a stack that keeps its data.
 */
export class ProviderSecrets extends Construct {
  readonly key: secretsmanager.Secret
  readonly callbackTokens: secretsmanager.Secret

  constructor(scope: Construct, id: string, stage: DeployedStage, key?: Key) {
    super(scope, id)
    const { name } = stage.settings
    const props = { removalPolicy: removalPolicyBesidesTable(stage), ...(key && { encryptionKey: key }) }
    this.key = new secretsmanager.Secret(this, 'Secret', {
      ...props,
      secretName: providerSecretName(name),
      description: 'JSON {"secret_key"}; filled in by an operator',
    })
    this.callbackTokens = new secretsmanager.Secret(this, 'Callback', {
      ...props,
      secretName: callbackSecretName(name),
      description: 'JSON {"callback_tokens": [one, or two during a rotation]}; filled in by an operator',
    })
  }
}
