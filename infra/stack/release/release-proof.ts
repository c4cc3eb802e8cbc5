import { createHash } from 'node:crypto'
import {
  CfnResource,
  CustomResource,
  Duration,
  type IResolveContext,
  Lazy,
  Stack,
} from 'aws-cdk-lib'
import { Alias, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { Construct, type IConstruct } from 'constructs'
import {
  answersClients,
  functionName,
  routeKeyOf,
  runsByItself,
} from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { ENV } from '../../../shared/runtime/config.ts'
import { allow } from '../functions/allow.ts'
import { assetOf } from '../functions/assets-of.ts'
import type { GatewayFunction, GatewayFunctions } from '../functions/gateway-functions.ts'
import { logGrant } from '../functions/grants.ts'
import { nodeRuntime } from '../functions/node-runtime.ts'
import { PROVER, stackNameOf } from '../stack-name-of.ts'
import type { DeployedStage } from '../stage.ts'
import { arnOf } from '../stage-stack.ts'

/** Longer than all rounds of a proof. After the second one CloudFormation takes silence for a failure. */
const [PROVER_TIMEOUT, PROOF_TIMEOUT] = [Duration.seconds(330), Duration.minutes(6)]

/**
 * A release proves itself before traffic: each new version is asked whether it can work, and no alias moves before all
 * have answered. A version that cannot work fails the deployment, and CloudFormation rolls it back.
 */
export class ReleaseProof extends Construct {
  private readonly proof: CustomResource

  constructor(
    scope: Construct,
    id: string,
    { stage, functions }: { stage: DeployedStage; functions: GatewayFunctions },
  ) {
    super(scope, id)
    const proven = functions.all.filter(({ spec }) => runsByItself(spec))
    const asks = proven.map((one) => ({
      target: targetOf(one),
      ...(answersClients(one.spec) && { route: routeKeyOf(one.spec) }),
    }))
    const targets = asks.map(({ target }) => target)
    this.proof = new CustomResource(this, 'Proof', {
      serviceToken: this.prover(stage, targets).functionArn,
      resourceType: 'Custom::ReleaseProof',
      serviceTimeout: PROOF_TIMEOUT,
      properties: { asks },
    })
    this.renewWith(proven)
    this.holdBack(...proven.flatMap(({ live }) => (live instanceof Alias ? [live] : [])))
  }

  /** Makes or changes these only after the proof. */
  holdBack(...later: readonly IConstruct[]): void {
    for (const one of later) one.node.addDependency(this.proof)
  }

  /** Asks the versions of a release, and for the doctor the operators' functions. It can send nothing but probes. */
  private prover(stage: DeployedStage, proven: readonly string[]): LambdaFunction {
    // Operators' functions are in a stack that is deployed later.
    const operated = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator').map((spec) =>
      arnOf(this, 'lambda', `function:${functionName(stage.settings.name, spec)}`),
    )
    const invoke = allow(['lambda:InvokeFunction'], [...proven, ...operated])
    const named = { stage, functionName: stackNameOf(stage, PROVER) }
    return new LambdaFunction(this, 'Function', {
      ...nodeRuntime(this, named, (log) => [...logGrant(log), ...invoke]),
      code: assetOf(stage, { name: PROVER, entry: 'shared/runtime/prove-release.ts' }),
      environment: { [ENV.stage]: stage.settings.name },
      memorySize: 256,
      timeout: PROVER_TIMEOUT,
    })
  }

  /**
   * The proof's name has a digest of all functions and roles, so that a release with another function or role has a proof
   * of its own. A rollback then only deletes that one. A version alone says nothing of its role.
   */
  private renewWith(functions: readonly GatewayFunction[]): void {
    const { defaultChild } = this.proof.node
    if (!(defaultChild instanceof CfnResource)) return
    const digested = () => {
      const parts = functions.flatMap((made) => [
        targetOf(made),
        ...[made.lambda, made.lambda.role].map((part) => templateOf(part?.node.defaultChild)),
      ])
      const text = JSON.stringify(Stack.of(this).resolve(parts))
      return `ReleaseProof${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
    }
    // Computed once: the name is read at each reference, and a digest takes a tenth of a second.
    let name: string | undefined
    const produce = ({ preparing }: IResolveContext) =>
      preparing ? 'ReleaseProof' : (name ??= digested())
    defaultChild.overrideLogicalId(Lazy.uncachedString({ produce }))
  }
}

/** The version that the release brings, or the function itself where the stage has no versions. */
function targetOf({ lambda, live }: GatewayFunction): string {
  return live instanceof Alias ? lambda.currentVersion.functionArn : lambda.functionArn
}

function templateOf(resource: IConstruct | undefined): object {
  return resource instanceof CfnResource ? resource._toCloudFormation() : {}
}
