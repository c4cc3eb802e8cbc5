import { createHash } from 'node:crypto'
import {
  CfnResource,
  CustomResource,
  Duration,
  type IResolveContext,
  Lazy,
  Stack,
} from 'aws-cdk-lib'
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Alias, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { Construct, type IConstruct } from 'constructs'
import { answersClients, routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { ENV } from '../../../shared/runtime/config.ts'
import { allow } from '../allow.ts'
import { assetOf } from '../functions/assets-of.ts'
import type { GatewayFunction, GatewayFunctions } from '../functions/gateway-functions.ts'
import { logGrant } from '../functions/grants.ts'
import { nodeRuntime } from '../functions/node-runtime.ts'
import { type DeployedStage, LIVE_ALIAS, PROVER, stackNameOf, unpublished } from '../stage.ts'
import { arnOf } from '../stage-stack.ts'

/**
 * Both are longer than all rounds of a proof. After `PROOF_TIMEOUT` CloudFormation takes silence
 * for a failure.
 */
const [PROVER_TIMEOUT, PROOF_TIMEOUT] = [Duration.seconds(330), Duration.minutes(6)]

/**
 * Proves a release before it gets traffic: no alias moves before the prover has an answer of each
 * new version. If a version cannot work, the deployment fails and CloudFormation rolls it back.
 */
export class ReleaseProof extends Construct {
  private readonly proof: CustomResource

  constructor(
    scope: Construct,
    id: string,
    { stage, functions }: { stage: DeployedStage; functions: GatewayFunctions },
  ) {
    super(scope, id)
    const { all: proven } = functions
    const asks = proven.map((made) => ({
      target: targetOf(made),
      ...(answersClients(made.spec) && { route: routeKeyOf(made.spec) }),
    }))
    const targets = asks.map(({ target }) => target)
    this.proof = new CustomResource(this, 'Proof', {
      serviceToken: this.addProver(stage, targets).functionArn,
      resourceType: 'Custom::ReleaseProof',
      serviceTimeout: PROOF_TIMEOUT,
      properties: { asks },
    })
    this.renewOnChange(proven)
    this.holdBack(...proven.flatMap(({ live }) => (live instanceof Alias ? [live] : [])))
  }

  holdBack(...constructs: readonly IConstruct[]) {
    for (const construct of constructs) construct.node.addDependency(this.proof)
  }

  /**
   * It sends only probes: to the versions of a release and, for the doctor, to operators'
   * functions.
   */
  private addProver(stage: DeployedStage, proven: readonly string[]) {
    // Operators' functions are in a stack that is deployed later.
    const operated = MANIFEST.flatMap(({ name, trigger }) =>
      trigger.kind === 'operator'
        ? arnOf(this, 'lambda', `function:${unpublished(stackNameOf(stage, name))}`)
        : [],
    )
    const invoke = allow(['lambda:InvokeFunction'], [...proven, ...operated])
    // A call of an alias does a function's work.
    const spare = new PolicyStatement({
      effect: Effect.DENY,
      actions: ['lambda:InvokeFunction'],
      resources: [arnOf(this, 'lambda', `function:*:${LIVE_ALIAS}`)],
    })
    const props = { stage, functionName: stackNameOf(stage, PROVER) }
    return new LambdaFunction(this, 'Function', {
      ...nodeRuntime(this, props, (log) => [...logGrant(log), ...invoke, spare]),
      code: assetOf(stage, { name: PROVER, entry: 'shared/runtime/prove-release.ts' }),
      environment: { [ENV.stage]: stage.settings.name },
      memorySize: 256,
      timeout: PROVER_TIMEOUT,
    })
  }

  /**
   * A digest of all functions and roles in the proof's name gives a changed release a new proof,
   * and a rollback only deletes it. A version does not show its role, so the digest has roles.
   */
  private renewOnChange(functions: readonly GatewayFunction[]) {
    const { defaultChild } = this.proof.node
    if (!(defaultChild instanceof CfnResource)) return
    const digestedName = () => {
      const parts = functions.flatMap((made) => [
        targetOf(made),
        ...[made.lambda, made.lambda.role].map((part) => templateOf(part?.node.defaultChild)),
      ])
      const text = JSON.stringify(Stack.of(this).resolve(parts))
      return `ReleaseProof${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
    }
    // The CDK reads the name at each reference, and a digest takes a tenth of a second.
    let name: string | undefined
    const produce = ({ preparing }: IResolveContext) =>
      preparing ? 'ReleaseProof' : (name ??= digestedName())
    defaultChild.overrideLogicalId(Lazy.uncachedString({ produce }))
  }
}

/**
 * The version of the release, or the unpublished one in a stage without versions: named in this
 * way, a function answers only probes.
 */
function targetOf({ lambda, live }: GatewayFunction) {
  return live instanceof Alias ? lambda.currentVersion.functionArn : unpublished(lambda.functionArn)
}

function templateOf(resource: IConstruct | undefined) {
  return resource instanceof CfnResource ? resource._toCloudFormation() : {}
}
