import { Aws, CfnCondition, Fn, RemovalPolicy } from 'aws-cdk-lib'
import type { Key } from 'aws-cdk-lib/aws-kms'
import { CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import {
  callbackSecretName,
  originSecretName,
  providerSecretName,
} from '../../../shared/secrets.ts'
import { FRONT_REGION } from '../stack-name-of.ts'
import { type DeployedStage, removalPolicyBesidesTable } from '../stage.ts'

export type ProviderSecrets = { readonly key: Secret; readonly callbackTokens: Secret }

/**
 * The provider's key and the callback tokens are two secrets: many functions read the key, one
 * function reads the tokens. The stack makes each secret with a random, invalid text. So every
 * provider call and callback fails until an operator puts the real value. Later deployments keep
 * the operator's values. So does the deletion of a stack that keeps its data.
 */
export function providerSecrets(
  parent: Construct,
  id: string,
  stage: DeployedStage,
  key?: Key,
): ProviderSecrets {
  const scope = new Construct(parent, id)
  const props = {
    removalPolicy: removalPolicyBesidesTable(stage),
    ...(key && { encryptionKey: key }),
  }
  return {
    key: new Secret(scope, 'Secret', {
      ...props,
      secretName: providerSecretName(stage.settings.name),
      description: 'JSON {"secret_key"}; filled in by an operator',
    }),
    callbackTokens: new Secret(scope, 'Callback', {
      ...props,
      secretName: callbackSecretName(stage.settings.name),
      description:
        'JSON {"callback_tokens": [one, or two during a rotation]}; filled in by an operator',
    }),
  }
}

/**
 * The secret that CloudFront shows the gateway. Secrets Manager makes it and copies it to the
 * front's region. shared/runtime/origin-guard.ts says how to rotate it.
 */
export function originSecret(parent: Construct, id: string, stage: DeployedStage): Secret {
  const scope = new Construct(parent, id)
  const secret = new Secret(scope, 'Secret', {
    secretName: originSecretName(stage.settings.name),
    description:
      'JSON {"current"}, and "previous" during a rotation; added by CloudFront, checked by ' +
      'the functions',
    generateSecretString: {
      secretStringTemplate: '{}',
      generateStringKey: 'current',
      excludePunctuation: true,
      passwordLength: 64,
    },
    // The secret is deleted with its stack, because a new stack makes a new secret.
    removalPolicy: RemovalPolicy.DESTROY,
  })
  // A secret cannot be copied to its own region.
  const elsewhere = new CfnCondition(scope, 'FrontIsElsewhere', {
    expression: Fn.conditionNot(Fn.conditionEquals(Aws.REGION, FRONT_REGION)),
  })
  const { defaultChild } = secret.node
  if (defaultChild instanceof CfnSecret) {
    const copy = Fn.conditionIf(elsewhere.logicalId, [{ Region: FRONT_REGION }], Aws.NO_VALUE)
    defaultChild.addPropertyOverride('ReplicaRegions', copy)
  }
  return secret
}
