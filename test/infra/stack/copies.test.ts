import { expect, it } from 'vitest'
import type { DeployedStage } from '../../../infra/stack/stage.ts'
import { type StackTemplate, synthesised, synthesisedCopies } from '../../support/stack-template.ts'
import { READY_PRODUCTION } from '../../support/stage-options.ts'

const [ID, SOURCE] = ['222222222222', '111111111111']
const STAGE: DeployedStage = {
  ...READY_PRODUCTION,
  copies: { region: 'ap-southeast-1', account: { id: ID, source: SOURCE } },
}

function textsOf(stacks: StackTemplate, type: string) {
  return stacks.all(type).map((resource) => JSON.stringify(resource))
}

/** AWS Backup: "you must share this customer managed key with the destination account". */
it.each([
  ['the table', synthesised(STAGE), ID],
  ['the copies', synthesisedCopies(STAGE), SOURCE],
])(
  'the other account may use the key of the vault of %s, and copy into the vault',
  (_, stacks, other) => {
    expect(textsOf(stacks, 'AWS::Backup::BackupVault')).toStrictEqual([
      expect.stringContaining(other),
    ])
    expect(textsOf(stacks, 'AWS::KMS::Key').filter((key) => key.includes(other))).toStrictEqual([
      // It may hand the key on to AWS services alone.
      expect.stringContaining('{"Bool":{"kms:GrantIsForAWSResource":true}}'),
    ])
  },
)

it('copies in another account leave the keys of the stage as they are', () => {
  const shared = textsOf(synthesised(STAGE), 'AWS::KMS::Key')

  expect(shared).toStrictEqual(
    expect.arrayContaining([...textsOf(synthesised(READY_PRODUCTION), 'AWS::KMS::Key')]),
  )
})

it('a failed creation takes no name but that of the table', () => {
  const kept = [synthesised, synthesisedCopies].flatMap((make) =>
    make(READY_PRODUCTION).resources.filter((one) => one.deletionPolicy === 'Retain'),
  )

  // Key and bucket have no names.
  const types = kept.map(({ type }) => type)
  expect(types.toSorted().join()).toBe('AWS::DynamoDB::GlobalTable,AWS::KMS::Key,AWS::S3::Bucket')
})
