import { type App, ArnFormat, Duration, Stack } from 'aws-cdk-lib'
import * as backup from 'aws-cdk-lib/aws-backup'
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Schedule } from 'aws-cdk-lib/aws-events'
import { AccountPrincipal, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { type IKey, Key } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import { operatorTopic } from '../monitoring/operator-topic.ts'
import {
  backupVaultName,
  type DeployedStage,
  hasAlarms,
  removalPolicyBesidesTable,
  stackNameOf,
} from '../stage.ts'
import type { StageFile } from '../stage-file.ts'
import { StageStack } from '../stage-stack.ts'
import { ProtectionRule } from './protection-rule.ts'

type Copies = NonNullable<StageFile['copies']>

/** As long as point-in-time recovery reaches back. No one can delete a copy earlier. */
const KEPT = Duration.days(35)
/** A copy leaves from here within hours. */
const KEPT_HERE = Duration.days(3)
/** The time to find out that the lock is wrong. Afterwards not even AWS can remove the lock. */
const CHANGEABLE = Duration.days(3)

/**
 * The locked vault in another region, and by a setting in another account, where the events come
 * from that account's trail. No copy can be read without the vault's key, so ending that key pages
 * too.
 */
export class CopiesStack extends StageStack {
  constructor(scope: App, stage: DeployedStage, { region, account }: Copies) {
    const env = { region, ...(account && { account: account.id }) }
    super(scope, stage, { part: 'copies', holds: 'the locked vault of backups', env })
    new backup.BackupVault(this, 'Vault', {
      backupVaultName: stackNameOf(stage, 'copies'),
      lockConfiguration: { minRetention: KEPT, changeableFor: CHANGEABLE },
      ...vaultOf(this, stage, account?.source),
    })
    if (!hasAlarms(stage)) return
    const pages = operatorTopic(this, 'Pages', { stage, name: 'copies-pages' })
    // A lost region's stage may come back here, with a rule of its own.
    new ProtectionRule(this, 'Protection', stackNameOf(stage, 'copies-protection'), pages)
  }
}

/**
 * A vault's own key. If its backups are copied to a vault of another account, and back, that
 * account may use the key and copy into the vault. No other account may use the table's own key.
 */
function vaultOf(scope: Construct, stage: DeployedStage, otherAccount: string | undefined) {
  const removalPolicy = removalPolicyBesidesTable(stage)
  const encryptionKey = new Key(scope, 'Key', {
    enabled: true,
    enableKeyRotation: true,
    removalPolicy,
  })
  if (otherAccount === undefined) return { encryptionKey, removalPolicy }
  const principals = [new AccountPrincipal(otherAccount)]
  const allow = (actions: string[], conditions = {}) =>
    new PolicyStatement({ principals, actions, conditions, resources: ['*'] })
  const use = ['DescribeKey', 'Encrypt', 'Decrypt', 'ReEncrypt*', 'GenerateDataKey*']
  encryptionKey.addToResourcePolicy(allow(use.map((name) => `kms:${name}`)))
  const grant = ['kms:CreateGrant', 'kms:ListGrants', 'kms:RevokeGrant']
  const isForService = { Bool: { 'kms:GrantIsForAWSResource': true } }
  encryptionKey.addToResourcePolicy(allow(grant, isForService))
  const statements = [allow(['backup:CopyIntoBackupVault'])]
  return { encryptionKey, removalPolicy, accessPolicy: new PolicyDocument({ statements }) }
}

/** Every day, each backup copied into the locked vault. */
export class TableCopies extends Construct {
  constructor(
    scope: Construct,
    id: string,
    {
      stage,
      copies: { region, account },
      table,
      key,
    }: { stage: DeployedStage; copies: Copies; table: ITableV2; key: IKey | undefined },
  ) {
    super(scope, id)
    const backupVault = new backup.BackupVault(this, 'Vault', {
      backupVaultName: backupVaultName(stage),
      ...(account ? vaultOf(this, stage, account.id) : key && { encryptionKey: key }),
      removalPolicy: removalPolicyBesidesTable(stage),
    })
    const destination = Stack.of(this).formatArn({
      service: 'backup',
      region,
      ...(account && { account: account.id }),
      resource: `backup-vault:${stackNameOf(stage, 'copies')}`,
      arnFormat: ArnFormat.NO_RESOURCE_NAME,
    })
    const plan = new backup.BackupPlan(this, 'Plan', { backupPlanName: stackNameOf(stage) })
    plan.addRule(
      new backup.BackupPlanRule({
        ruleName: 'daily',
        backupVault,
        // Before the sweep, so that a lost region loses no settlement of the day before.
        scheduleExpression: Schedule.cron({ hour: '1', minute: '0' }),
        deleteAfter: KEPT_HERE,
        copyActions: [
          {
            destinationBackupVault: backup.BackupVault.fromBackupVaultArn(
              this,
              'Copies',
              destination,
            ),
            deleteAfter: KEPT,
          },
        ],
      }),
    )
    plan.addSelection('Table', {
      // Another table is another selection, which cannot be made under the same name.
      backupSelectionName: table.tableName,
      resources: [backup.BackupResource.fromArn(table.tableArn)],
    })
  }
}
