import { CfnOutput, DefaultStackSynthesizer, Stack } from 'aws-cdk-lib'
import { ManagedPolicy, PolicyStatement, type PolicyStatementProps } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { DUTIES, type Duty, mayInvoke, ROLES } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { DataStack } from '../data-stack.ts'
import { canaryKeySecretName, FRONT_REGION, PROVER, stackNameOf } from '../stack-name-of.ts'
import type { DeployedStage } from '../stage.ts'
import { arnOf } from '../stage-stack.ts'

type Props = { readonly stage: DeployedStage; readonly data: DataStack }

/**
 * A managed policy for each duty, to be attached to people, and a policy for the deployer. Each
 * function belongs to one duty. A policy names each of its functions.
 */
export class DutyPolicies extends Construct {
  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    for (const role of ROLES) if (role !== 'oncall') this.addPolicy(role, props)
  }

  private addPolicy(role: Duty | 'deploy', props: Props): void {
    const { stage } = props
    const names = MANIFEST.filter((spec) => mayInvoke(role, spec)).map((spec) => spec.name)
    // The doctor asks the prover whether operators' functions work. The prover starts no action.
    const functions = role === 'deploy' ? [...names, PROVER] : names
    const does =
      role === 'deploy'
        ? 'deploy, hold the secrets of the stage, start what schedules start'
        : DUTIES[role]
    const policy = new ManagedPolicy(this, role, {
      // No description: to change it, CloudFormation would replace the policy, and cannot make two
      // policies of one name.
      managedPolicyName: stackNameOf(stage, role),
      statements: [
        {
          sid: 'Invoke',
          actions: ['lambda:InvokeFunction'],
          resources: functions.map((name) =>
            arnOf(this, 'lambda', `function:${stackNameOf(stage, name)}`),
          ),
        },
        ...(role === 'deploy' ? this.deployStatements(props) : []),
      ].map((statement) => new PolicyStatement(statement)),
    })
    new CfnOutput(Stack.of(this), `${role.charAt(0).toUpperCase()}${role.slice(1)}PolicyArn`, {
      value: policy.managedPolicyArn,
      description: `For people who do this: ${does}. It may invoke ${functions.join(', ')}`,
    })
  }

  /**
   * `cdk deploy` uses the roles that `cdk bootstrap` made. A deployer puts the stage's secrets; the
   * doctor reads them.
   */
  private deployStatements({
    stage: { front, settings },
    data: { provider, originSecret, key },
  }: Props): PolicyStatementProps[] {
    const { partition, account, region } = Stack.of(this)
    const secrets = [provider.key, provider.callbackTokens, ...(originSecret ? [originSecret] : [])]
    // AWS appends a dash and six characters to the name of a secret.
    const canaryKey = `arn:${partition}:secretsmanager:${FRONT_REGION}:${account}:secret:${canaryKeySecretName(settings.name)}-??????`
    const conditions = {
      StringEquals: { 'kms:ViaService': `secretsmanager.${region}.amazonaws.com` },
    }
    const keyStatement = { sid: 'Key', actions: ['kms:Decrypt', 'kms:GenerateDataKey'], conditions }
    return [
      {
        sid: 'Deploy',
        actions: ['sts:AssumeRole'],
        resources: [
          `arn:${partition}:iam::${account}:role/cdk-${DefaultStackSynthesizer.DEFAULT_QUALIFIER}-*`,
        ],
      },
      {
        sid: 'Secrets',
        actions: [
          'secretsmanager:DescribeSecret',
          'secretsmanager:GetSecretValue',
          'secretsmanager:PutSecretValue',
        ],
        resources: [
          ...secrets.map(({ secretArn }) => secretArn),
          ...(front === 'cloudfront' ? [canaryKey] : []),
        ],
      },
      ...(key ? [{ ...keyStatement, resources: [key.keyArn] }] : []),
    ]
  }
}
