import { Aws, CfnCondition, Fn, RemovalPolicy } from 'aws-cdk-lib'
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { type FunctionSpec, isHttp } from '../../../functions/function-spec.ts'
import { originSecretName } from '../../../shared/secrets.ts'
import { allow } from '../functions/allow.ts'
import type { DeployedStage } from '../stage.ts'

/** Where CloudFront and its firewall are configured, whatever region the gateway is in. */
export const FRONT_REGION = 'us-east-1'

/**
 * The secret that CloudFront shows the gateway. Secrets Manager makes it and copies it to the front's region. How to
 * exchange it: shared/runtime/origin-guard.ts.
 */
export class OriginSecret extends Construct {
  readonly secret: secretsmanager.Secret

  constructor(scope: Construct, id: string, stage: DeployedStage) {
    super(scope, id)
    this.secret = new secretsmanager.Secret(this, 'Secret', {
      secretName: originSecretName(stage.settings.name),
      description: 'JSON {"current"}, and "previous" during a rotation; added by CloudFront, checked by the functions',
      generateSecretString: {
        secretStringTemplate: '{}',
        generateStringKey: 'current',
        excludePunctuation: true,
        passwordLength: 64,
      },
      // Useless without its stack; a new stack makes a new one.
      removalPolicy: RemovalPolicy.DESTROY,
    })
    // A secret cannot be copied to the region it is in.
    const elsewhere = new CfnCondition(this, 'FrontIsElsewhere', {
      expression: Fn.conditionNot(Fn.conditionEquals(Aws.REGION, FRONT_REGION)),
    })
    if (this.secret.node.defaultChild instanceof secretsmanager.CfnSecret) {
      this.secret.node.defaultChild.addPropertyOverride(
        'ReplicaRegions',
        Fn.conditionIf(elsewhere.logicalId, [{ Region: FRONT_REGION }], Aws.NO_VALUE),
      )
    }
  }
}

/** Every function that answers HTTP compares with this one secret, and no other function can read it. */
export const originGrants = (
  spec: FunctionSpec,
  { originSecret }: { readonly originSecret?: secretsmanager.Secret | undefined },
): PolicyStatement[] =>
  originSecret && isHttp(spec) ? allow(['secretsmanager:GetSecretValue'], [originSecret.secretArn]) : []
