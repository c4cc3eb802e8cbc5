import type { Key } from 'aws-cdk-lib/aws-kms'
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { providerSecretName } from '../shared/secrets.ts'
import { type DeployedStage, removalPolicyBesidesTable } from './stage.ts'

/**
 * What we show the provider and what it shows us. The stack makes it with a random text, which is no valid value: until
 * an operator puts the real one, every provider call and callback fails instead of trusting something guessable.
 * Later deployments leave the operator's value alone, and so does the deletion of a stack that keeps its data.
 */
export class ProviderSecret extends Construct {
  readonly secret: secretsmanager.Secret

  constructor(scope: Construct, id: string, stage: DeployedStage, key?: Key) {
    super(scope, id)
    this.secret = new secretsmanager.Secret(this, 'Secret', {
      secretName: providerSecretName(stage.settings.name),
      description: 'JSON {"secret_key", "callback_tokens": [one, or two during a rotation]}; filled in by an operator',
      removalPolicy: removalPolicyBesidesTable(stage),
      ...(key && { encryptionKey: key }),
    })
  }
}
