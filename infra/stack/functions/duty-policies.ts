import { CfnOutput, DefaultStackSynthesizer, Stack } from 'aws-cdk-lib'
import { ManagedPolicy, PolicyStatement, type PolicyStatementProps } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { DUTIES, mayInvoke, ROLES, type Role } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { DataStack } from '../data-stack.ts'
import { PROVER, stackNameOf } from '../stack-name-of.ts'
import type { DeployedStage } from '../stage.ts'
import { arnOf } from '../stage-stack.ts'

type Props = { readonly stage: DeployedStage; readonly data: DataStack }

/**
 * A managed policy for each duty, to be attached to people, and one for the deployer. Each function belongs to one
 * duty. Policies name functions one by one.
 */
export class DutyPolicies extends Construct {
  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    for (const role of ROLES) this.policy(role, props)
  }

  private policy(role: Role, props: Props): void {
    const { stage } = props
    const started = MANIFEST.filter((spec) => mayInvoke(role, spec)).map((spec) => spec.name)
    // The doctor uses it to ask whether operators' functions work. It starts no action.
    const functions = role === 'deploy' ? [...started, PROVER] : started
    const does =
      role === 'deploy'
        ? 'deploy, hold the secrets of the stage, start what schedules start'
        : DUTIES[role]
    const policy = new ManagedPolicy(this, role, {
      // No description: CloudFormation replaces a policy to change it, and cannot make two of one name.
      managedPolicyName: stackNameOf(stage, role),
      statements: [
        {
          sid: 'Invoke',
          actions: ['lambda:InvokeFunction'],
          resources: functions.map((called) =>
            arnOf(this, 'lambda', `function:${stackNameOf(stage, called)}`),
          ),
        },
        ...(role === 'deploy' ? this.deploying(props) : []),
      ].map((allowed) => new PolicyStatement(allowed)),
    })
    new CfnOutput(Stack.of(this), `${role.charAt(0).toUpperCase()}${role.slice(1)}PolicyArn`, {
      value: policy.managedPolicyArn,
      description: `For people who do this: ${does}. It may invoke ${functions.join(', ')}`,
    })
  }

  /** `cdk deploy` works by the roles that `cdk bootstrap` made. The stage's secrets are put, and read by the doctor. */
  private deploying({ data: { provider, originSecret, key } }: Props): PolicyStatementProps[] {
    const secrets = [provider.key, provider.callbackTokens, ...(originSecret ? [originSecret] : [])]
    const { partition, account, region } = Stack.of(this)
    const conditions = {
      StringEquals: { 'kms:ViaService': `secretsmanager.${region}.amazonaws.com` },
    }
    const forKey = { sid: 'Key', actions: ['kms:Decrypt', 'kms:GenerateDataKey'], conditions }
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
        resources: secrets.map(({ secretArn }) => secretArn),
      },
      ...(key ? [{ ...forKey, resources: [key.keyArn] }] : []),
    ]
  }
}
